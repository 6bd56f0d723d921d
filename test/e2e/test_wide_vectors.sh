#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, SVE is on aarch64, and musl was tried on x86-64
#
# test_wide_vectors.sh: a program that has values in vectors of SVE, of up to 256 bytes, keeps them while it is sampled. The
# kernel's frame has more than 10 KiB then: on an alternate stack with room for nothing else samples are lost, and said to be.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout

"$victims/wide_vectors" plain >plain || [ $? != 77 ] || skip "the processor has no SVE"
for engine in timer perf; do
    for where in plain large exact; do
        status timeout -s KILL 60 env LD_PRELOAD="$library" \
            LIBPPROF="cpu:1000,engine=$engine,file=$work/$where.pb.gz" "$victims/wide_vectors" $where >said
        expect_equal "status of $where with $engine" 42 "$(tail -n 1 said)"
        raw $where.pb.gz
        name="keep_vectors work main"
        [ $where != exact ] || name=pprof_lost_samples
        # shellcheck disable=SC2086 # one word each
        expect_share "$name of $where with $engine" "$(awk '$1 == "work" { print $2 }' said)" \
            "$(weight_with $where.pb.gz.raw $name)"
    done
    comments exact.pb.gz.raw | grep -q 'alternate signal stack' || fail "the comments: $(comments exact.pb.gz.raw)"
    [ $engine = perf ] || expect_at_least "whole stacks" 98 "$(whole_percent plain.pb.gz.raw)"
done
cat plain
