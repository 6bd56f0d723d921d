#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, musl has no libunwind
# nightly: 2
#
# test_unwind_compare.sh: the walk of the stack is right at every instruction of small programs, as
# far as test/compare/known.txt does not say why not (docs/UNWIND_AGREEMENT.md).
#
. "$SRC/test/e2e/lib.sh"

compare=$BUILD/test/compare

# agree LEAST [OPTION...] -- COMMAND...: LEAST percent of the PCs agree, and every disagreement is of a known class.
agree() {
    agree_least=$1
    shift
    agree_status=0
    "$compare/unwind_stepper" --agent "$compare/unwind_agent.so" --known "$SRC/test/compare/known.txt" \
        --least "$agree_least" "$@" >report 2>&1 || agree_status=$?
    [ "$agree_status" -ne 77 ] || skip "ptrace is not permitted"
    [ "$agree_status" -eq 0 ] || fail "$*: $(cat report)"
    grep '^| all\|steps in' report
}

# All of nothing proves nothing: a program into which the agent did not get is not compared at all.
compared() { sed -n 's/^| all | [0-9]* | \([0-9]*\) .*/\1/p' report; }

agree 99.9 -- true
expect_at_least "instructions compared in true" 500 "$(compared)"
agree 97 --from-entry -- "$compare/shapes"
expect_at_least "instructions compared in shapes" 5000 "$(compared)"
agree 99 --from-entry -- "$compare/exceptions"
expect_at_least "instructions compared in exceptions" 8000 "$(compared)"
agree 99.9 --from-entry -- ls /
expect_at_least "instructions compared in ls" 5000 "$(compared)"
echo ok
