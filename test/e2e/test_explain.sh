#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_explain.sh: `cpprof dump --explain` and the comments of profiles say why a stack is not whole: the reason, the
# place, and the unwind rule, which is the one that readelf shows.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need readelf
cpprof=$BUILD/bin/cpprof
victim=$victims/explained

# thread_of FILE NAME: its lines.
thread_of() { awk -v name="\"$2\"" '/^thread / { on = $3 == name } on && NF' "$1"; }

# The names of registers.
sp=rsp fp=rbp
! readelf -h "$library" | grep -q AArch64 || sp=sp fp=x29

# find_rule NAME: where the FDE of the function begins and ends, and the CFA at its call, as readelf shows them: $first,
# $limit, $cfa.
find_rule() {
    first=$(LC_ALL=C readelf -sW "$victim" | awk -v name="$1" '$8 == name { print $2 }')
    LC_ALL=C readelf --debug-dump=frames-interp "$victim" 2>/dev/null | awk -v first="$first" '
        / FDE / { on = index($0, "pc=" first "..") > 0 }
        / FDE / && on { limit = $0; sub(/.*[.][.]/, "", limit) }
        on && length($1) == 16 { cfa = $2 }
        END { print limit, cfa }' >rule
    first=$(echo "$first" | sed 's/^0*//')
    limit=$(sed 's/^0*//; s/ .*//' rule)
    cfa=$(sed 's/.* //' rule)
}

# expect_explained FILE NAME REASON: what the thread's lines say after its frames.
expect_explained() {
    thread_of "$1" "$2" >"$2.lines"
    expect_contains "$2" "$2.lines" "stack ends early: $3"
    expect_contains "$2" "$2.lines" "registers there: $sp 0x"
}

# expect_rule NAME: the rule in its lines is that of readelf.
expect_rule() {
    find_rule "$1"
    expect_contains "the rule of $1" "$1.lines" \
        "the FDE of 0x$first-0x$limit says: CFA = $cfa, return address at CFA-8, $fp unchanged, "
}

"$victim" >victim.out &
process=$!
started="$started $process"
wait_until has_line victim.out ready
everybody_waits() { # all threads have got to where they stay, and have their stacks
    "$cpprof" dump -p "$process" --explain >explained 2>explained.err || fail "dump: $(cat explained.err)"
    expect_equal "threads" 6 "$(grep -c '^thread ' explained)"
    [ "$(grep -cE '\[(pause|ppoll)\]:$' explained)" = 6 ] # what pause() calls where the kernel has no pause
}
wait_until everybody_waits
expect_equal "stacks that are explained" 5 "$(grep -c '^stack ends early: ' explained)"
expect_explained explained bare 'no FDE of the module covers the address'
expect_contains "the place of bare" bare.lines " in $victim"
expect_explained explained lost 'the CFA counts from a register that is not known in this frame'
expect_rule lost
expect_explained explained far 'the return address cannot be read'
expect_rule far
expect_explained explained below "the caller's frame would not be above this one"
expect_rule below
expect_explained explained generated 'code of no module (generated, or mapped by hand), and no frame pointer leads on'
expect_contains "the place of generated code" generated.lines 'in code that no file holds'
expect_contains "the warning" explained.err 'the stacks of 5 of 6 threads lack outer frames'

# Without the option the text has the same lines but for these.
"$cpprof" dump -p "$process" >plain 2>plain.err
awk '/^stack ends early: / { on = 1; next } on && /^\t/ { next } { on = 0; print }' explained | cmp - plain ||
    fail "other lines differ: $(diff explained plain)"
"$cpprof" dump -p "$process" --explain -o explained.pb.gz 2>/dev/null
"$cpprof" top explained.pb.gz >top
expect_equal "comments of the profile" 5 "$(grep -c 'libpprof: thread [0-9]*: stack ends early: ' top)"
kill -KILL "$process"

# The comments of a CPU profile, written inside.
record cpu.pb.gz "$victim" compute
"$cpprof" top cpu.pb.gz >top
expect_contains "what a CPU profile says of lost" top \
    "the CFA counts from a register that is not known in this frame; the FDE of 0x"
expect_contains "what a CPU profile says of the module" top " end in $victim, the first at 0x"
expect_equal "comments on places" 5 "$(grep -Ec 'libpprof: [0-9]+ stacks? ends? in ' top)"
echo ok
