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
    expect_share "$*" "$(spent "$1")" \
        "$(weight_directly "$profile" burn_ms coroutine_leaf "$@")"
    expect_equal "weight of main below $1" 0 "$(weight_with "$profile" "$1" main)"
}

check() {
    record "$work/p.pb.gz" "$victims/coroutines" >spent || : >failed
    raw p.pb.gz
    profile=$work/p.pb.gz.raw
    # makecontext puts the address of a function of libc's at the beginning, which not every libc has a name for.
    ROOT_ADDRESSES=$(awk '$1 == "__start_context" { print $2, $3 }' spent)
    for body in context_body malloc_body outer_body thread_body; do
        chain $body # from __start_context, which libc's symbols do not name everywhere
    done
    chain frames_body begin_frames
    chain jump_body finish_bare
    chain zero_body
    # The rest is the kernel's: it maps, fills and unmaps these stacks.
    expect_at_least "weight of short_leaf" "$(percent "$(spent short_body)" 50)" \
        "$(weight_with "$profile" short_leaf short_body)"
    expect_equal "weight of who runs short-lived stacks, below them" 0 \
        "$(weight_with "$profile" short_body thread_of_short_lives)"
    expect_at_least "percent of stacks that reach their beginning, $(comments "$profile")" 98 \
        "$(ROOTS='begin_frames finish_bare zero_body' whole_percent "$profile")"
}

attempts 3 check
expect_no_file failed # no attempt may end badly
echo ok
