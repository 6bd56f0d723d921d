#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_frames.sh: programs whose call-frame information is in unusual places, or not there.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go readelf

section() { LC_ALL=C readelf -SW "$victims/$1" | grep -F " $2 "; }

# record_victim NAME: its profile, and what it spent in $spent.
record_victim() {
    record "$work/$1.pb.gz" "$victims/$1" >"$1.spent" || fail "$1 ended badly"
    raw "$1.pb.gz"
    profile=$work/$1.pb.gz.raw
    spent=$(awk '$1 == "main" { print $2 }' "$1.spent")
}

expect_whole_chain() { # NAME
    record_victim "$1"
    expect_share "the chain of $1" "$spent" "$(weight_with "$profile" frames_leaf frames_middle \
        frames_middle frames_middle frames_middle main)"
    expect_equal "percent of whole stacks of $1" 100.00 "$(whole_percent "$profile")"
    ! comments "$profile" | grep -q 'without unwind information' ||
        fail "$1: $(comments "$profile")"
}

check() {
    expect_whole_chain frames_no_header
    expect_whole_chain frames_split
    expect_whole_chain frames_plain_start

    # No tables are loaded: the instructions up to the return say where the caller is.
    expect_whole_chain frames_debug_only

    # A function that never returns has a caller all the same. (With musl the function behind main has no tables either.)
    if ! is_musl "$library"; then
        record_victim frames_never_returns
        expect_share "the caller of a loop for ever" "$spent" "$(weight_with "$profile" work_a_little loops_for_ever main)"
    fi
}

[ -z "$(section frames_no_header .eh_frame_hdr)" ] || skip "the linker makes a header all the same"
section frames_split .eh_frame | grep -q ' WA ' || skip "the linker makes .eh_frame read-only"
[ -n "$(section frames_debug_only .debug_frame)" ] || skip "the compiler makes no .debug_frame"
attempts 3 check
echo ok
