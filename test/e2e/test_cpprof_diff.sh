#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_diff.sh: `cpprof diff` shows both sides and the change, as `top` has them for each side, and tells a test whether
# something grew too much.
# sanitizers: yes
set -u

: "${BUILD:?the build directory}" "${SRC:?the source directory}"
cpprof=$BUILD/bin/cpprof
go=$SRC/test/golden/go
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export TZ=UTC
failures=0

fail() {
    echo "FAIL: $*" >&2
    failures=$((failures + 1))
}

# expect STATUS OPTIONS...: the exit status; the output is in out, complaints are in err.
expect() {
    status=$1
    shift
    "$cpprof" diff "$@" >out 2>err
    got=$?
    [ $got = "$status" ] || fail "diff $*: expected exit status $status, found $got: $(cat err)"
}

# ---- twice as much of everything

"$cpprof" merge -o twice.pb.gz "$go/cpu.pb.gz" "$go/cpu.pb.gz" || fail "merge"
expect 0 "$go/cpu.pb.gz" twice.pb.gz
cat >expected <<'END'
Type: cpu (flat)
        base         now      change   of base
       830ms       1.66s      +830ms  +100.00%  total
       600ms       1.20s      +600ms   +72.29%  main.hog1
       230ms       460ms      +230ms   +27.71%  main.hog2
END
cmp -s out expected || {
    fail "diff: the output differs"
    diff expected out >&2
}
expect 0 --cum -n 2 "$go/cpu.pb.gz" twice.pb.gz
grep -q "^Showing 2 of" out || fail "diff --cum -n 2: $(cat out)"
expect 0 --sample samples --focus hog2 "$go/cpu.pb.gz" twice.pb.gz
grep -q "^          23          46         +23  +100.00%  main.hog2" out || fail "diff --focus: $(cat out)"

# ---- for tests

expect 3 --fail-above 5% "$go/cpu.pb.gz" twice.pb.gz
grep -q "expected growth of at most 5 %, found 100.00 %" err || fail "--fail-above 5%: $(cat err)"
expect 0 --fail-above 101% "$go/cpu.pb.gz" twice.pb.gz
expect 0 --fail-above 5% twice.pb.gz "$go/cpu.pb.gz"
expect 0 --fail-above 0.1 "$go/cpu.pb.gz" "$go/cpu.pb.gz"
[ "$(wc -l <out)" = 3 ] || fail "no change: $(cat out)"

# ---- wrong options

expect 2 "$go/cpu.pb.gz"
grep -q "expected BASE and FILE" err || fail "one file: $(cat err)"
expect 2 --fail-above much "$go/cpu.pb.gz" twice.pb.gz
expect 1 "$go/cpu.pb.gz" "$go/heap.pb.gz"
"$cpprof" top --fail-above 5% "$go/cpu.pb.gz" >out 2>err
[ $? = 2 ] || fail "top --fail-above: expected exit status 2"

[ $failures = 0 ]
