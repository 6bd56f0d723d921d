#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cpprof_diff.sh: `cpprof diff` shows both sides and the change, as `top` has them for each side, and tells a test whether
# something grew too much.
# sanitizers: yes
# shellcheck source=test/e2e/cpprof_lib.sh
. "$SRC/test/e2e/cpprof_lib.sh"

# ---- twice as much of everything

"$cpprof" merge -o twice.pb.gz "$go/cpu.pb.gz" "$go/cpu.pb.gz" || fail "merge"
run 0 diff "$go/cpu.pb.gz" twice.pb.gz
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
run 0 diff --cum -n 2 "$go/cpu.pb.gz" twice.pb.gz
grep -q "^Showing 2 of" out || fail "diff --cum -n 2: $(cat out)"
run 0 diff --sample samples --focus hog2 "$go/cpu.pb.gz" twice.pb.gz
grep -q "^          23          46         +23  +100.00%  main.hog2" out || fail "diff --focus: $(cat out)"

# ---- for tests

run 3 diff --fail-above 5% "$go/cpu.pb.gz" twice.pb.gz
cat >expected <<'END'
cpprof: diff: expected growth of at most 5 %, found 100.00 %:
cpprof: diff:  +100.00%  +830ms  total
cpprof: diff:   +72.29%  +600ms  main.hog1
cpprof: diff:   +27.71%  +230ms  main.hog2
END
cmp -s err expected || fail "--fail-above 5%: $(cat err)"
run 3 diff --fail-above 50% "$go/cpu.pb.gz" twice.pb.gz
! grep -q hog2 err || fail "--fail-above 50% names what grew by less: $(cat err)"
# One function costs less and another one more: the total is as it was.
printf 'main;a 100\nmain;b 100\n' >one.folded
printf 'main;a 150\nmain;b 50\n' >other.folded
run 3 diff --fail-above 5% one.folded other.folded
grep -qx "cpprof: diff:   +25.00%  +50  a" err || fail "--fail-above: what grew is not named: $(cat err)"
! grep -q 'total\|  b$' err || fail "--fail-above names what did not grow: $(cat err)"
run 0 diff --fail-above-total 5% one.folded other.folded
[ ! -s err ] || fail "--fail-above-total: $(cat err)"
run 3 diff --fail-above-total 5% "$go/cpu.pb.gz" twice.pb.gz
grep -qx "cpprof: diff: expected growth of the total of at most 5 %, found 100.00 %:" err || fail "--fail-above-total: $(cat err)"
grep -qx "cpprof: diff:   +72.29%  +600ms  main.hog1" err || fail "--fail-above-total does not name a function: $(cat err)"
run 0 diff --fail-above-total 100 "$go/cpu.pb.gz" twice.pb.gz
run 3 diff --fail-above 5% --fail-above-total 5% "$go/cpu.pb.gz" twice.pb.gz
[ "$(grep -c ' total$' err)" = 1 ] || fail "both limits: $(cat err)"
run 0 diff --fail-above 101% "$go/cpu.pb.gz" twice.pb.gz
run 0 diff --fail-above 5% twice.pb.gz "$go/cpu.pb.gz"
run 0 diff --fail-above 0.1 "$go/cpu.pb.gz" "$go/cpu.pb.gz"
[ "$(wc -l <out)" = 3 ] || fail "no change: $(cat out)"

# ---- memory that grows

"$cpprof" merge -o more.pb.gz "$go/heap.pb.gz" "$go/heap.pb.gz" || fail "merge"
run 0 diff "$go/heap.pb.gz" more.pb.gz
grep -q "^Memory in use has grown in 4 of 4 stacks, leaf first:$" out || fail "diff of heaps: $(cat out)"
grep -q "^     37.01MB     74.02MB    +37.01MB  main.allocBig < main.main < runtime.main$" out || fail "diff of heaps: $(cat out)"
run 0 diff more.pb.gz "$go/heap.pb.gz"
! grep -q "has grown" out || fail "memory that shrinks: $(cat out)"
run 0 diff --sample alloc_space "$go/heap.pb.gz" more.pb.gz
! grep -q "has grown" out || fail "what was allocated: $(cat out)"

# ---- wrong options

run 2 diff "$go/cpu.pb.gz"
grep -q "expected BASE and FILE" err || fail "one file: $(cat err)"
run 2 diff --fail-above-total 5x "$go/cpu.pb.gz" twice.pb.gz
run 2 diff --fail-above much "$go/cpu.pb.gz" twice.pb.gz
refuse 1 "$go/heap.pb.gz and $go/cpu.pb.gz: expected profiles of one kind, found the sample types alloc_objects/count, \
alloc_space/bytes, inuse_objects/count, inuse_space/bytes in the first and samples/count, cpu/nanoseconds in the other" \
    diff "$go/cpu.pb.gz" "$go/heap.pb.gz"
[ "$(wc -l <err)" = 1 ] || fail "two kinds: more than one message: $(cat err)"
refuse 1 "$go/block.pb.gz and $go/cpu.pb.gz: expected profiles of one kind, found the sample types contentions/count, \
delay/nanoseconds in the first" diff "$go/cpu.pb.gz" "$go/block.pb.gz"
"$cpprof" top --fail-above 5% "$go/cpu.pb.gz" >out 2>err
[ $? = 2 ] || fail "top --fail-above: expected exit status 2"

finish_tests
