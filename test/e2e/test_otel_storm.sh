#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_otel_storm.sh: a reader that stops a thread at any instruction finds whole labels, those from before a change or
# those from after it: at each instruction of some changes, and at random moments of threads that do nothing else. Of sets
# that stay, a reader may copy records without stopping anybody. The list of keys is whole whenever it is said to be: at each
# instruction of its change, and for a reader that stops nobody.
#
#   OTEL_LOOKS=N   how often the reader looks in each case; 300
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need python3

# look CASE: what the reader finds in the program of that case.
look() {
    status=0
    LIBPPROF=otel PYTHONDONTWRITEBYTECODE=1 python3 "$SRC/test/e2e/otel/look.py" "$1" "$linked/otel" "$1" >looked 2>looked.err ||
        status=$?
    [ "$status" != 77 ] || skip "$(tail -n 1 looked)"
    [ "$status" = 0 ] || fail "$1: $(cat looked looked.err)"
    cat looked looked.err
}

# On aarch64 without atomic instructions, a step between the two halves of one has it fail, for ever.
if [ "$(uname -m)" = x86_64 ] || grep -qw atomics /proc/cpuinfo; then
    look steps
    expect_equal "labels in their order" '- - -
- - {"step": "1"}
- - {"step": "12"}
- - {"step": "1"}
- - -
- - {"step": "123"}
- - -' "$(cat looked)"
    expect_at_least "instructions" 1000 "$(sed -n 's/ instructions//p' looked.err)"
    look adds
    expect_equal "lists of keys in their order" '["old"]
is written
["old", "new"]' "$(cat looked)"
fi
look storm
look kept
look grows
echo ok
