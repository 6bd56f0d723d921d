#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_otel_storm.sh: a reader that stops a thread at any instruction finds whole labels, those from before a change or
# those from after it: at each instruction of some changes, and at random moments of threads that do nothing else. Of sets
# that stay, a reader may copy records without stopping anybody.
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

look steps
expect_equal "labels in their order" '- - -
- - {"step": "1"}
- - {"step": "12"}
- - {"step": "1"}
- - -
- - {"step": "123"}
- - -' "$(cat looked)"
expect_at_least "instructions" 1000 "$(sed -n 's/ instructions//p' looked.err)"
look storm
look kept
echo ok
