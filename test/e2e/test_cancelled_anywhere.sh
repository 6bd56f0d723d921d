#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_cancelled_anywhere.sh: asynchronous cancellation, which shares its signal with our samples, strikes as it does
# without us, and leaves nothing behind: the profile goes on, and ends.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout

for options in cpu:1000 cpu:10000,engine=perf; do
    status timeout -s KILL 100 env LD_PRELOAD="$library" \
        LIBPPROF="$options,heap:4096,block,mutex,thread,fd,file=$work/%k.pb.gz" "$victims/cancelled_anywhere" 50 >said
    expect_equal "status with $options" 42 "$(tail -n 1 said)"
    raw cpu.pb.gz
    period=1
    [ "$options" = cpu:1000 ] || period=10
    wanted=$(awk -v period=$period '$1 == "work" { print $2 * period }' said)
    found=$(weight_with cpu.pb.gz.raw work main)
    expect_at_least "work after all that with $options" "$(percent "$wanted" 90)" "$found"
    # The clock of perf events also counts interrupts, which the thread's may leave out: at 10 kHz in an emulated machine,
    # most of the time.
    [ $period = 10 ] || expect_near "work after all that with $options" "$wanted" "$found" "$(percent "$wanted" 10)"
    ! comments cpu.pb.gz.raw | grep -q 'foreign handler' || fail "$(comments cpu.pb.gz.raw)"
done

# The first cancellation of a program comes before a profile starts, or after it; libc's handler is there either way.
for order in first later; do
    expect_equal "status of $order" 42 "$(status timeout -s KILL 60 "$linked/cancelled_first" $order)"
done

# Sent from outside it ends the process, as it does where there is no profile.
for options in none cpu:1000; do
    LIBPPROF=$options LD_PRELOAD=$library sleep 100 2>/dev/null &
    started=$!
    wait_until grep -q libpprof "/proc/$started/maps"
    wait_until grep -q '^SigCgt:.*[1-9a-f]\|^State:.*sleeping' "/proc/$started/status"
    kill -"$(cancel_signal)" "$started"
    killed=0
    wait "$started" || killed=$?
    expect_equal "status of what is sent signal 32 with $options" $((128 + $(cancel_signal))) "$killed"
    started=
done
echo ok
