#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_jumps.sh: a signal handler jumps out of what is hooked, or ends the thread there; the program does
# not notice us, and we get over it.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout

# ---- out of waits ----

# jumps OUTPUT COMMAND...
jumps() {
    jumps_output=$1
    shift
    jumps_status=0
    timeout -s KILL 60 "$@" "$victims/jumps" >"$jumps_output" || jumps_status=$?
    expect_equal "status of $*" 42 "$jumps_status"
}

jumps bare env
for options in block:1 mutex:1 block:1,mutex:1 cpu:1000,heap:1,block:1,mutex:1,thread,fd; do
    jumps preloaded env LIBPPROF="$options,file=$work/jumps.%k.pb.gz" LD_PRELOAD="$library"
    cmp bare preloaded || fail "with $options: $(diff bare preloaded)"
done
# A thread that ends inside a wait which is a cancellation point has waited.
raw jumps.block.pb.gz
for wait in condition semaphore thread; do
    expect_at_least "waits in wait_for_$wait" 1 "$(weight_with jumps.block.pb.gz.raw "wait_for_$wait")"
done
echo ok
