#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_coroutines.sh: stacks that the program made, and unmaps while it is sampled.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go

spent() { awk -v name="$1" '$1 == name { print $2 }' spent; }

# Nothing is seen beyond the stack's own beginning: not who switched to it.
chain() { # BODY [BEGINNING]
    expect_share "$1" "$(spent "$1")" \
        "$(weight_directly "$profile" burn_ms coroutine_leaf "$@")"
    expect_equal "weight of main below $1" 0 "$(weight_with "$profile" "$1" main)"
}

check() {
    record "$work/p.pb.gz" "$victims/coroutines" >spent || : >failed
    raw p.pb.gz
    profile=$work/p.pb.gz.raw
    for body in context_body malloc_body outer_body jump_body zero_body thread_body; do
        chain $body
    done
    chain frames_body begin_frames
    # A stack whose CFI marks its end, or whose first return address is 0, is whole.
    whole=$(comments "$profile" | sed -n 's/.* \([0-9]*\) have whole stacks.*/\1/p')
    expect_at_least "whole stacks" "$(weight_with "$profile" frames_body begin_frames)" "$whole"
    expect_share short_body "$(spent short_body)" \
        "$(weight_with "$profile" short_leaf short_body)"
    expect_equal "weight of who runs short-lived stacks, below them" 0 \
        "$(weight_with "$profile" short_body thread_of_short_lives)"
}

attempts 3 check
expect_no_file failed # no attempt may end badly
echo ok
