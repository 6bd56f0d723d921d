#!/bin/sh
# SPDX-License-Identifier: MIT
#
# viewer: cpprof's reports and sums beside those of `go tool pprof`, on the same files: seconds from fork to wait, and
# megabytes of maximum resident set, the best of some runs.
#
#   top, tree, peek, traces   1 000 000 samples, 200 000 locations, 50 000 functions, gzipped
#   merge                     1000 profiles of 1000 samples each
#
#   NAME_speedup, NAME_saving how many times as long the Go tool takes, and as much memory

set -eu
cpprof=${LIBRARY%/lib/*}/bin/cpprof
samples=1000000 locations=200000 files=1000 runs=3
[ "$BENCH" != quick ] || samples=200000 locations=40000 files=200 runs=1

pprof=
if command -v go >/dev/null; then
    pprof=$(go tool -n pprof 2>/dev/null || true)
    [ -x "$pprof" ] || pprof=
fi
[ -n "$pprof" ] || echo "# not installed: go tool pprof"
export PPROF_TMPDIR="$WORK" HOME="$WORK"

# best COMMAND...: "SECONDS MEGABYTES", each the least of the runs.
best() {
    count=0
    while [ $count -lt $runs ]; do
        "$PROGRAMS/viewer" run "$@"
        count=$((count + 1))
    done | sort -n | awk 'NR == 1 { seconds = $1; least = $2 } $2 < least { least = $2 } END { print seconds, least }'
}

# compare NAME CPPROF-WORDS -- GO-WORDS
compare() {
    name=$1 ours='' theirs=''
    shift
    while [ "$1" != -- ]; do
        ours="$ours $1"
        shift
    done
    shift
    # shellcheck disable=SC2086 # words
    ours=$(best "$cpprof" $ours)
    echo "viewer.$name.pprof ${ours% *} s"
    echo "viewer.${name}_memory.pprof ${ours#* } MB"
    [ -n "$pprof" ] || return 0
    theirs=$(best "$pprof" -symbolize=none "$@")
    echo "viewer.$name.go ${theirs% *} s"
    echo "viewer.${name}_memory.go ${theirs#* } MB"
    echo "$ours $theirs" | awk -v name="$name" '{
        printf "viewer.%s_speedup.pprof %.1f x\nviewer.%s_saving.pprof %.1f x\n", name, $3 / $1, name, $4 / $2 }'
}

"$PROGRAMS/viewer" generate $samples $locations | gzip -1 >"$WORK/large.pb.gz"
compare top top "$WORK/large.pb.gz" -- -top "$WORK/large.pb.gz"
compare tree tree "$WORK/large.pb.gz" -- -tree "$WORK/large.pb.gz"
compare peek peek function_1_ "$WORK/large.pb.gz" -- -peek=function_1_ "$WORK/large.pb.gz"
compare traces traces "$WORK/large.pb.gz" -- -traces "$WORK/large.pb.gz"

"$PROGRAMS/viewer" generate 1000 2000 | gzip -1 >"$WORK/small.pb.gz"
many=$(yes "$WORK/small.pb.gz" | head -n $files)
# shellcheck disable=SC2086 # words
compare merge merge -o "$WORK/sum.pb.gz" $many -- -proto -output="$WORK/sum.go.pb.gz" $many
