#!/bin/sh
# SPDX-License-Identifier: MIT
#
# viewer: cpprof's reports and sums beside those of `go tool pprof`, on the same files, in turns: the medians of seconds
# from fork to wait, of seconds of CPU time, and of megabytes of maximum resident set.
#
#   top, tree, peek, traces   1 000 000 samples, 200 000 locations, 50 000 functions, gzipped
#   merge                     1000 profiles of 1000 samples each
#
#   NAME_speedup, NAME_cpu_speedup, NAME_saving   how many times as long the Go tool takes, as much CPU time, and as
#                             much memory: the medians of the ratios of the rounds

set -eu
cpprof=${LIBRARY%/lib/*}/bin/cpprof
samples=1000000 locations=200000 files=1000 rounds=3
[ "$BENCH" != quick ] || samples=200000 locations=40000 files=200 rounds=1

pprof=
if command -v go >/dev/null; then
    pprof=$(go tool -n pprof 2>/dev/null || true)
    [ -x "$pprof" ] || pprof=
fi
[ -n "$pprof" ] || echo "# not installed: go tool pprof"
export PPROF_TMPDIR="$WORK" HOME="$WORK"

# median FILE COLUMN
median() {
    sort -n -k "$2,$2" "$1" | awk -v column="$2" '{ value[NR] = $column } END { print value[int((NR + 1) / 2)] }'
}

# say NAME WHO FILE
say() {
    echo "viewer.$1.$2 $(median "$3" 1) s"
    echo "viewer.$1_cpu.$2 $(median "$3" 2) s"
    echo "viewer.$1_memory.$2 $(median "$3" 3) MB"
}

run_ours() {
    # shellcheck disable=SC2086 # words
    "$PROGRAMS/viewer" run "$cpprof" $ours >>"$WORK/ours"
}

run_theirs() {
    [ -z "$pprof" ] || "$PROGRAMS/viewer" run "$pprof" -symbolize=none "$@" >>"$WORK/theirs"
}

# compare NAME CPPROF-WORDS -- GO-WORDS
compare() {
    name=$1 ours='' round=0
    shift
    while [ "$1" != -- ]; do
        ours="$ours $1"
        shift
    done
    shift
    rm -f "$WORK/ours" "$WORK/theirs"
    while [ $round -lt $rounds ]; do
        if [ $((round % 2)) = 0 ]; then
            run_ours
            run_theirs "$@"
        else
            run_theirs "$@"
            run_ours
        fi
        round=$((round + 1))
    done
    say "$name" pprof "$WORK/ours"
    [ -n "$pprof" ] || return 0
    say "$name" go "$WORK/theirs"
    paste -d ' ' "$WORK/ours" "$WORK/theirs" | awk '{ print $4 / $1, $5 / $2, $6 / $3 }' >"$WORK/ratios"
    printf 'viewer.%s_speedup.pprof %.1f x\n' "$name" "$(median "$WORK/ratios" 1)"
    printf 'viewer.%s_cpu_speedup.pprof %.1f x\n' "$name" "$(median "$WORK/ratios" 2)"
    printf 'viewer.%s_saving.pprof %.1f x\n' "$name" "$(median "$WORK/ratios" 3)"
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
