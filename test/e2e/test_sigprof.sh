#!/bin/sh
# SPDX-License-Identifier: MIT
# nightly: 2
#
# test_sigprof.sh: a host that uses SIGPROF itself: its handler gets its signals and none of ours, a
# default action still ends it, and the profile goes on, or says why it could not.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout

run_way() { # WAY: status, without any message of the shell
    status timeout -s KILL 60 "$@" 2>/dev/null
}
for way in handler handler-signal handler-info ignored interval-timer blocked all-blocked signal-thread \
    signal-descriptor own-timer default default-thread ignored-from-start; do
    plain=$(run_way "$victims/sigprof" $way)
    found=$(run_way env LIBPPROF="cpu:1000,file=$work/$way.pb.gz" LD_PRELOAD="$library" \
        "$victims/sigprof" $way)
    expect_equal "status of $way" "$plain" "$found"
done

# Handlers of the host's do not end the profile.
for way in handler handler-signal handler-info ignored interval-timer own-timer; do
    raw $way.pb.gz
    expect_work "weight of work with $way" 300 "$(weight_with $way.pb.gz.raw work main)" 15
done

# A thread that blocks all signals, and is told that it does, is sampled all the same.
raw all-blocked.pb.gz
expect_work "weight of work that blocks all signals" 300 \
    "$(weight_with all-blocked.pb.gz.raw work work_all_blocked)" 15

# CPU time of a thread that blocks all signals past libc is not known by stack, but it is not forgotten.
raw blocked.pb.gz
expect_work "weight of lost samples" 300 "$(weight_with blocked.pb.gz.raw pprof_lost_samples)" 15
expect_work "weight of lost samples of that thread" 300 \
    "$(weight_directly blocked.pb.gz.raw pprof_lost_samples work_blocked)" 15
comments blocked.pb.gz.raw | grep -q "blocked signal $(cancel_signal) past" ||
    fail "the comments do not say that the signal was blocked: $(comments blocked.pb.gz.raw)"

# Ignored already by whoever started the program.
expect_equal "status where SIGPROF was ignored from the start" 42 "$(
    trap '' PROF
    run_way env LIBPPROF="cpu:1000,file=$work/i.pb.gz" LD_PRELOAD="$library" \
        "$victims/sigprof" ignored-from-start
)"
raw i.pb.gz
expect_work "weight of work" 300 "$(weight_with i.pb.gz.raw work main)" 15
echo ok
