#!/bin/sh
# SPDX-License-Identifier: MIT
# nightly: 3
#
# test_alternate_stacks.sh: threads whose alternate signal stack is small live on, and what they used is said
# to be lost; those with a large one are sampled, whatever they have for a stack.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout

lossy='small tight' sampled='large runs-on'
[ "$(uname -m)" != aarch64 ] || lossy=tight sampled="small $sampled" # its kernel refuses a stack that is too small

for engine in timer perf; do
    for way in small tight large changing coroutines runs-on; do
        expect_equal "status of $way" 42 "$(status timeout -s KILL 60 env LD_PRELOAD="$library" \
            LIBPPROF="cpu:1000,engine=$engine,thread,file=$work/$way.%k.pb.gz" \
            "$victims/alternate_stacks" $way)"
        raw $way.cpu.pb.gz
        # All that the process used: on a busy machine it starts and ends more slowly.
        expect_work "weight of $way with $engine" 320 "$(weight $way.cpu.pb.gz.raw)" 40
    done
    for attempt in 1 2 3; do
        expect_equal "status of cancelled, attempt $attempt" 42 "$(status timeout -s KILL 60 env LD_PRELOAD="$library" \
            LIBPPROF="cpu:1000,engine=$engine,thread,file=$work/cancelled.%k.pb.gz" \
            "$victims/alternate_stacks" cancelled)"
        raw cancelled.cpu.pb.gz
        expect_work "work after cancellations with $engine" 300 \
            "$(weight_with cancelled.cpu.pb.gz.raw work)" 20
    done
    for way in $lossy; do
        expect_work "lost with $way and $engine" 300 \
            "$(weight_with $way.cpu.pb.gz.raw pprof_lost_samples)" 30
        comments $way.cpu.pb.gz.raw | grep -q 'alternate signal stack' ||
            fail "the comments do not name the alternate stack: $(comments $way.cpu.pb.gz.raw)"
    done
    for way in $sampled; do
        expect_work "work of $way with $engine" 300 \
            "$(weight_with $way.cpu.pb.gz.raw work)" 20
        expect_at_least "whole stacks of $way with $engine" 98 "$(whole_percent $way.cpu.pb.gz.raw)"
    done
    expect_work "work in coroutines with $engine" 300 \
        "$(weight_with coroutines.cpu.pb.gz.raw spin_in_coroutine)" 20
    expect_near "lost with a changing stack" 0 \
        "$(weight_with changing.cpu.pb.gz.raw pprof_lost_samples)" 20
done
echo ok
