#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_depths.sh: how many frames of a deep stack are in each profile, counted from the leaf.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go

expect_equal "status" 0 "$(status "$linked/depths" "$work")"
deepest() { # NAME: the frames of the longest stack
    raw "$1.pb.gz"
    sed -n '/^Samples:/,/^Locations/ s/^[ 0-9]*: \([0-9 ]*\)$/\1/p' "$1.pb.gz.raw" |
        awk 'NF > most { most = NF } END { print most + 0 }'
}
for name in own block threadcreate; do
    expect_equal "frames in $name" 128 "$(deepest $name)"
done
# And malloc, which is left out.
expect_equal "frames in heap" 255 "$(deepest heap)"
expect_equal "frames in cpu" 1024 "$(deepest cpu)"
# The caller's walk begins inside of libpprof, whose frames are left out.
deepest_thread=$(deepest thread)
[ "$deepest_thread" -gt 1000 ] && [ "$deepest_thread" -le 1024 ] || fail "frames in thread: $deepest_thread"
echo ok
