#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_heap.sh: the heap profile of a preloaded C program: each allocation function, what is in use, estimates
# within theory, the form that the contract asks for.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go

heap() { # OPTIONS ARGUMENTS...: the victim's profile in p.pb.gz and p.pb.gz.raw
    heap_options=$1
    shift
    rm -f p.pb.gz
    preload "$heap_options,file=$work/p.pb.gz" "$victims/heap" "$@"
    raw p.pb.gz
}

# At rate 1 every block is there: what was allocated, what is in use, and which function asked the allocator for it.
heap heap:1 kinds
expect_kind() { # FUNCTION BLOCKS BYTES BLOCKS_IN_USE BYTES_IN_USE [LEAF]
    expect_equal "blocks of $1" "$2 $3 $4 $5" "$(blocks_of p.pb.gz.raw "$1" main)"
    expect_equal "leaves of $1" "${6:-$1}" "$(leaves_of p.pb.gz.raw "$1" | sed 's/^__strdup$/strdup/')"
}
expect_kind by_malloc 1000 100000 1000 100000
expect_kind by_calloc 1000 200000 1000 200000
expect_kind by_realloc 2000 3050000 1000 3000000
expect_kind by_reallocarray 1000 400000 1000 400000
expect_kind by_posix_memalign 1000 500000 1000 500000
expect_kind by_aligned_alloc 1000 640000 1000 640000
expect_kind by_memalign 1000 700000 1000 700000
expect_kind by_valloc 1000 800000 1000 800000
expect_kind by_strdup 1000 24000 1000 24000 strdup
expect_kind by_malloc_zero 1000 0 1000 0
resized=1000
! is_musl "$library" || resized=2000 # a block of no bytes takes the place of each
expect_kind freed_by_realloc $resized 60000 0 0
expect_kind freed_by_free 1000 90000 0 0
expect_equal "blocks of not_allocated" "0 0 0 0" "$(blocks_of p.pb.gz.raw not_allocated main)"
expect_kind kept_by_failed_realloc 1000 110000 1000 110000

# The form: four sample types, the block size as a label, no duration, whole stacks.
expect_equal "sample types" \
    "alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes[dflt]" \
    "$(sed -n '/^Samples:/{n;p;}' p.pb.gz.raw)"
expect_equal "period type" "PeriodType: space bytes" "$(grep '^PeriodType' p.pb.gz.raw)"
expect_equal "period" "Period: 1" "$(grep '^Period:' p.pb.gz.raw)"
! grep -q '^Duration' p.pb.gz.raw || fail "a heap profile has no duration"
expect_equal "label of by_calloc's blocks" 200 \
    "$(blocks p.pb.gz.raw | awk -F '\t' '$2 == "by_calloc" { split($1, v, " "); print v[5] }')"
is_musl "$library" || blocks p.pb.gz.raw | awk -F '\t' '$NF != "_start" { bad = 1 } END { exit bad }' ||
    fail "stacks that do not begin at _start: $(blocks p.pb.gz.raw)"
blocks p.pb.gz.raw | awk '{ if (NR > 1 && $4 > last) bad = 1; last = $4 } END { exit bad }' ||
    fail "samples are not ordered by bytes in use"

# All freed: nothing is in use, whatever the rate.
for rate in 1 100 10000 512k; do
    heap heap:$rate nothing
    expect_equal "in use at rate $rate" "0 0" "$(blocks_of p.pb.gz.raw | cut -d ' ' -f 3-)"
done

# Estimates: 4 standard errors; each of N samples has an error of about 1 / sqrt(N).
heap heap:16k shares
expect_near "bytes of three_quarters" 300000000 \
    "$(field 2 "$(blocks_of p.pb.gz.raw three_quarters)")" 9000000
expect_near "bytes of one_quarter_kept" 100000000 \
    "$(field 2 "$(blocks_of p.pb.gz.raw one_quarter_kept)")" 5200000
expect_near "blocks of one_quarter_kept" 100000 \
    "$(field 1 "$(blocks_of p.pb.gz.raw one_quarter_kept)")" 5200
expect_equal "in use of three_quarters" "0 0" \
    "$(blocks_of p.pb.gz.raw three_quarters | cut -d ' ' -f 3-)"
expect_equal "allocated and in use of one_quarter_kept" \
    "$(blocks_of p.pb.gz.raw one_quarter_kept | cut -d ' ' -f 1-2)" \
    "$(blocks_of p.pb.gz.raw one_quarter_kept | cut -d ' ' -f 3-4)"
heap heap:512k sizes 300
expect_near "bytes of site_1000000" 300000000 "$(field 2 "$(blocks_of p.pb.gz.raw site_1000000)")" \
    30000000
expect_near "bytes of site_4194304" 1258291200 \
    "$(field 2 "$(blocks_of p.pb.gz.raw site_4194304)")" 10000000

# Answers to nonsense and errno are those of the C library, with every block sampled and with none.
expect_equal "status of odd" 0 "$(status "$victims/heap" odd)"
for options in heap:1 heap heap:0 cpu:1000 heap:1,cpu:1000; do
    expect_equal "status of odd with $options" 0 \
        "$(status preload "$options,file=$work/%k.pb.gz" "$victims/heap" odd)"
done

# Off unless it is asked for: preloaded without LIBPPROF, or with a list that does not name it.
rm -f ./*.pb.gz
LD_PRELOAD=$library "$victims/heap" shares
preload "cpu,file=$work/%k.pb.gz" "$victims/heap" shares
expect_equal "files" "cpu.pb.gz" "$(echo ./*.pb.gz | sed 's|\./||g')"

# As users of gperftools ask for it.
rm -f ./*.pb.gz
env HEAPPROFILE="$work/prefix" LD_PRELOAD="$library" "$victims/heap" shares
raw prefix.heap
rm -f prefix.heap*

# Beside the CPU profile, each in its own file, also where the name does not tell them apart.
rm -f ./*.pb.gz
preload "cpu:1000,heap:1k,file=$work/%k.pb.gz" "$victims/heap" shares
raw cpu.pb.gz
raw heap.pb.gz
expect_at_least "blocks of three_quarters" 200000 \
    "$(field 1 "$(blocks_of heap.pb.gz.raw three_quarters)")"
rm -f ./*.pb.gz*
preload "cpu:1000,heap:1k,file=$work/both.pb.gz" "$victims/heap" shares
preload "cpu:1000,heap:1k,file=$work/both" "$victims/heap" shares
expect_equal "files" "both.cpu both.cpu.pb.gz both.heap both.heap.pb.gz" "$(echo both*)"
echo ok
