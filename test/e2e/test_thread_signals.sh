#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_thread_signals.sh: profiles of threads keep their signals to themselves (what is checked stands in
# linked/thread_signals.c), and take nothing from a CPU profile, nor add to it.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go

"$linked/thread_signals" >alone.ms

"$linked/thread_signals" cpu.pb.gz >cpu.ms
raw cpu.pb.gz
used=$(cat cpu.ms)
expect_near "ms in the CPU profile" "$used" "$(weight cpu.pb.gz.raw)" "$(percent "$used" 1)"
echo ok
