#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_busy_at_start.sh: a thread that blocks all signals in the moment when a profile starts is sampled all the same.
# Where the machine is so loaded that the moment is a long one, the thread is rightly left out.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout

sampled() {
    expect_equal "status" 42 "$(status timeout -s KILL 60 "$linked/busy_at_start" cpu.pb.gz)"
    raw cpu.pb.gz
    expect_near "work" 300 "$(weight_with cpu.pb.gz.raw work)" 30
}
attempts 5 sampled
echo ok
