#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_heap_hostile.sh: what the profile says of difficult programs: constructors, threads that free each other's
# blocks, fork in the middle of malloc, signal handlers, libraries that go past the hooks, changing rates,
# churn. What such programs notice of the library: test_heap_guest.sh.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go timeout

victim=$victims/heap_hostile
run() { # OPTIONS ARGUMENTS...: its exit status has to be 0
    run_options=$1
    shift
    rm -f p.pb.gz
    run_status=0
    timeout -s KILL 60 env LIBPPROF="$run_options,file=$work/p.pb.gz" LD_PRELOAD="$library" \
        "$victim" "$@" >output 2>errors || run_status=$?
    expect_equal "status of $* with $run_options" 0 "$run_status"
}

run heap:1 early
raw p.pb.gz
expect_equal "blocks of in_constructor" "100 30000 100 30000" "$(blocks_of p.pb.gz.raw in_constructor)"

# What all threads have freed is not in use, whoever freed it, at any rate; also beside CPU samples.
for options in heap:1 heap:200 heap:20k; do
    run "$options" threads 20000
    raw p.pb.gz
    expect_equal "in use of exchange with $options" "0 0" \
        "$(blocks_of p.pb.gz.raw exchange | cut -d ' ' -f 3-)"
    expect_at_least "blocks of exchange with $options" 20000 \
        "$(field 1 "$(blocks_of p.pb.gz.raw exchange)")"
done
run heap:1,cpu:1000 threads 20000
raw p.heap.pb.gz
expect_equal "in use of exchange beside CPU samples" "0 0" \
    "$(blocks_of p.heap.pb.gz.raw exchange | cut -d ' ' -f 3-)"
raw p.cpu.pb.gz

run heap:1 fork 100
raw p.pb.gz
expect_equal "blocks of children in the parent" "0 0 0 0" "$(blocks_of p.pb.gz.raw allocates_in_child)"

# A child that is profiled has its own file, with what it inherited and what it did.
mkdir children
expect_equal "status of fork with subprocesses" 0 "$(status timeout -s KILL 60 env \
    LIBPPROF="heap:1,subprocesses,file=$work/children/%p.pb.gz" LD_PRELOAD="$library" "$victim" fork 6)"
expect_equal "files of six children and their parent" 7 "$(find children -name '*.pb.gz' | wc -l)"
with_blocks=0
for file in children/*.pb.gz; do
    raw "$file"
    found=$(blocks_of "$file.raw" allocates_in_child)
    [ "$found" = "0 0 0 0" ] || {
        expect_equal "blocks of a child" "3000 350000 1000 50000" "$found"
        with_blocks=$((with_blocks + 1))
    }
done
expect_equal "children with blocks" 6 "$with_blocks"

run heap:1 signals
raw p.pb.gz
expect_equal "blocks of in_handler" "20000 800000 0 0" "$(blocks_of p.pb.gz.raw in_handler)"
run heap:1k,cpu:1000 signals

zlib=$(PATH=$PATH:/sbin ldconfig -p | sed -n 's/.*libz\.so\.1 .*\(x86-64\|AArch64\).* => //p' | head -n 1)
! is_musl "$library" || zlib=$(LC_ALL=C readelf -d "$library" | sed -n 's/.*(RU*N*PATH).*\[\(.*\)\]$/\1/p')/libz.so.1
[ -z "$zlib" ] || run heap:1 load "$zlib"

run heap rates
raw p.pb.gz
expect_equal "in use of exchange after changes of the rate" "0 0" \
    "$(blocks_of p.pb.gz.raw exchange | cut -d ' ' -f 3-)"

# Nothing grows with the number of blocks that come and go.
for options in heap:1 heap:1k heap; do
    run "$options" churn 3000000
    expect_at_least "kilobytes below 200 with $options" 0 "$((200 - $(cat output)))"
done
echo ok
