# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# profilers.sh: sourced by the benches that preload profilers into programs: which are installed, what
# environment each needs, and what a profile adds up to.
#
#   pprof                    libpprof
#   pprof_perf               libpprof with engine=perf, only where it is asked for by this name
#   gperftools               its default: one ITIMER_PROF for the process
#   gperftools_per_thread    its CPUPROFILE_PER_THREAD_TIMERS=1
#
# Needs what bench/run sets: $PROGRAMS, $LIBRARY, $WORK.

have_go() {
    command -v go >/dev/null 2>&1
}

# What the loader cannot preload it says on stderr.
have_gperftools() {
    [ -z "$(LD_PRELOAD=libprofiler.so.0 /bin/true 2>&1)" ]
}

# profilers: the names of those that are installed.
profilers() {
    echo pprof
    if have_gperftools; then
        echo gperftools
        echo gperftools_per_thread
    fi
}

# environment PROFILER HZ FILE: the variables under which a program is profiled into FILE.
environment() {
    case $1 in
    pprof) echo "LD_PRELOAD=$LIBRARY LIBPPROF=cpu:$2,file=$3" ;;
    pprof_perf) echo "LD_PRELOAD=$LIBRARY LIBPPROF=cpu:$2,engine=perf,file=$3" ;;
    gperftools) echo "LD_PRELOAD=libprofiler.so.0 CPUPROFILE=$3 CPUPROFILE_FREQUENCY=$2" ;;
    gperftools_per_thread)
        echo "LD_PRELOAD=libprofiler.so.0 CPUPROFILE=$3 CPUPROFILE_FREQUENCY=$2" \
            "CPUPROFILE_PER_THREAD_TIMERS=1"
        ;;
    *) return 2 ;;
    esac
}

# profiled PROFILER HZ COMMAND...: runs it; the profile is then $WORK/profile.
profiled() {
    profiler=$1 hz=$2
    shift 2
    rm -f "$WORK/profile"
    # shellcheck disable=SC2046 # assignments without blanks
    env $(environment "$profiler" "$hz" "$WORK/profile") "$@" 2>"$WORK/stderr" || {
        cat "$WORK/stderr" >&2
        return 1
    }
}

# samples: "NANOSECONDS LEAF-ADDRESS LEAF-NAME" of each sample of $WORK/profile.
samples() {
    go tool pprof -symbolize=none -raw "$WORK/profile" 2>/dev/null | awk '
        /^Samples:/   { part = "samples"; next }
        /^Locations/  { part = "locations"; next }
        /^Mappings/   { part = "" }
        part == "samples" && $2 ~ /^[0-9]+:$/ {
            count++
            value[count] = $2 + 0
            leaf[count] = $3
        }
        part == "locations" && $1 ~ /^[0-9]+:$/ {
            address[$1 + 0] = $2
            name[$1 + 0] = $3 ~ /^M=/ ? $4 : $3
        }
        END {
            for (i = 1; i <= count; i++)
                print value[i], address[leaf[i] + 0], name[leaf[i] + 0]
        }'
}

# lost_ns: the part of it that has no stack, but the name pprof_lost_samples.
lost_ns() {
    samples | awk '$3 == "pprof_lost_samples" { sum += $1 } END { printf "%.0f\n", sum }'
}

# comments: what the profiler has to say of $WORK/profile, a line each.
comments() {
    go tool pprof -symbolize=none -comments "$WORK/profile" 2>/dev/null
}

# profile_ns: the CPU time that $WORK/profile accounts for.
profile_ns() {
    samples | awk '{ sum += $1 } END { printf "%.0f\n", sum }'
}
