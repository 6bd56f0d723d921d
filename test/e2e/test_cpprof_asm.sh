#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, Debian has no libdw for musl, by which lines are read
#
# test_cpprof_asm.sh: `cpprof list --asm` has the values of `go tool pprof -disasm` at the same instructions, for each Go that is installed,
# and the lines that they come from; without objdump it says what to install.
# shellcheck source=test/e2e/lines.sh
. "$SRC/test/e2e/lines.sh"
need go cc objdump python3
cpprof=$BUILD/bin/cpprof

cat >spin.c <<'C'
#include <stdlib.h>
static volatile unsigned long sink;
static inline __attribute__((always_inline)) unsigned long mix(unsigned long x)
{
    x *= 0xff51afd7ed558ccdul;
    return x ^ x >> 29;
}
__attribute__((noinline)) void spin(unsigned long n)
{
    unsigned long x = n;
    for (unsigned long i = 0; i < n; i++)
        x = mix(x + i);
    sink = x;
}
__attribute__((noinline)) int twice(void)
{
    spin(100000000);
    spin(50000000);
    return 1;
}
int main(void)
{
    return twice() - 1;
}
C
# go tool pprof of Go 1.19 finds no instructions of programs that are position-independent.
cc -g -O1 -no-pie -o spin spin.c
"$cpprof" record -o p.pb.gz ./spin >out 2>err || fail "record: $(cat err)"

# values FILE: "address flat cum" of each instruction that has values.
values() { awk '$3 ~ /^[0-9a-f]+:$/ && ($1 != "." || $2 != ".") { sub(":", "", $3); print $3, $1, $2 }' "$1" | sort; }

for go in $gos; do
    for expression in spin twice; do # "^" matches nothing in go tool pprof -disasm
        "$go" tool pprof -symbolize=none -disasm "$expression\$" p.pb.gz >theirs 2>err || fail "$go: $(cat err)"
        "$cpprof" list --asm "$expression\$" p.pb.gz >ours 2>err || fail "$expression: $(cat err)"
        values theirs >their_values
        values ours | diff their_values - >differences || fail "$expression: theirs (<), ours (>): $(cat differences)"
        [ -s their_values ] || fail "$expression: no instruction has a value"
        expect_equal "$expression: the sums" "$(grep '(flat, cum)' theirs)" "$(grep '(flat, cum)' ours)"
    done
done

cc -g -O1 -o spin spin.c
"$cpprof" record -o p.pb.gz ./spin >out 2>err || fail "record: $(cat err)"
"$cpprof" list --asm --unit ms 'spin$' p.pb.gz >ours
expect_equal "the sum of the instructions" "$(grep '(flat, cum)' ours | awk '{ print $1 }')" \
    "$(values ours | awk '{ sum += $2 } END { print sum "ms" }')"
"$cpprof" list --asm --json --unit ms 'spin$' p.pb.gz >ours.json
python3 - ours.json ours <<'PYTHON' || fail "--json: $(cat ours.json)"
import json, sys

routine, = json.load(open(sys.argv[1]))["routines"]
text = [row.split(":", 1) for row in open(sys.argv[2]) if row.split()[2:3] and row.split()[2].endswith(":")]
assert routine["name"] == "spin", routine["name"]
assert routine["flat"] == sum(row["flat"] for row in routine["instructions"]) > 0
assert len(text) == len(routine["instructions"])
for row, (left, right) in zip(routine["instructions"], text):
    assert (int(left.split()[2], 16), right.strip()) == (row["address"], row["text"].strip()), (left, row)
assert any(row.get("line") == 5 and row["file"].endswith("/spin.c") for row in routine["instructions"])
PYTHON
grep -q "spin.c:5:     x \*= 0xff51afd7ed558ccdul;" ours || fail "no source of an inlined function: $(cat ours)"
"$cpprof" list --asm mix p.pb.gz | grep -q "ROUTINE .* spin$" || fail "the function that mix was inlined into"
refused=0
"$cpprof" list --asm no_such_name p.pb.gz >out 2>err || refused=$?
expect_equal "no match" 1 $refused
refused=0
PATH=$work/none "$cpprof" list --asm spin p.pb.gz >out 2>err || refused=$?
expect_equal "without objdump" 1 $refused
expect_contains "without objdump" err "install binutils"
refused=0
"$cpprof" top --asm p.pb.gz >out 2>err || refused=$?
expect_equal "--asm of another verb" 2 $refused
echo ok
