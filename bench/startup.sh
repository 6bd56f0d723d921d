#!/bin/sh
# SPDX-License-Identifier: MIT
#
# startup: what preloading a profiler adds to a program that does nothing: milliseconds from fork to
# wait, and megabytes of maximum resident set.
#
#   true             /bin/true
#   many_libraries   a program that is linked to 500 small shared libraries
#   large_library    one that is linked to a library of 200 000 functions
#
#   idle             preloaded, not asked for anything
#   cpu              a CPU profile from start to end, written to a file

set -eu
# shellcheck disable=SC1091 # profilers.sh is checked by itself
. "${0%/*}/profilers.sh"

have_gperftools || echo "# not installed: gperftools (libprofiler.so.0)"

rounds=400
[ "$BENCH" != quick ] || rounds=200

# startup_pairs NAME COMMAND
startup_pairs() {
    set -- "$1" "$2" \
        none "$2" \
        -- idle.pprof LD_PRELOAD="$LIBRARY" "$2" \
        -- cpu.pprof LD_PRELOAD="$LIBRARY" LIBPPROF=cpu,file="$WORK/startup.pb.gz" "$2"
    if have_gperftools; then
        set -- "$@" -- idle.gperftools LD_PRELOAD=libprofiler.so.0 "$2" \
            -- cpu.gperftools LD_PRELOAD=libprofiler.so.0 CPUPROFILE="$WORK/startup.prof" "$2"
    fi
    name=$1
    shift 2
    "$PROGRAMS/pairs" -n $rounds -w 5 -m ms,rss "$@" >"$WORK/pairs"
    awk -v name="$name" '{
        split($1, part, ".")    # idle.pprof.ms
        printf "startup.%s_%s_%s.%s %s %s # %s .. %s\n", name, part[1], part[3], part[2],
            $2, $3, $4, $5
    }' "$WORK/pairs"
}

startup_pairs true /bin/true
startup_pairs many_libraries "$PROGRAMS/many_libraries"
startup_pairs large_library "$PROGRAMS/large_library"
