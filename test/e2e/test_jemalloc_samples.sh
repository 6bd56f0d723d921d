#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_jemalloc_samples.sh: the samples of a jemalloc that is linked into the program, which no hook of ours sees: in each
# state of its profiler, under a prefix that the user names, and without. The jemalloc is a stand-in
# (victims/own_jemalloc.c); test/extra/jemalloc.sh has real ones.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go

# run VICTIM "VERSION 111" OPTIONS: a profile in heap.raw, its comments in comments.
run() {
    rm -f heap.pb.gz
    OWN_JEMALLOC=$2 LD_PRELOAD=$library LIBPPROF=$3,file=$work/heap.pb.gz "$victims/$1" >walks
    raw heap.pb.gz
    go tool pprof -comments heap.pb.gz >comments 2>/dev/null
}
expect_counts() { # WHAT FUNCTION "BLOCKS BYTES BLOCKS_IN_USE BYTES_IN_USE"
    expect_equal "$1" "$3" "$(blocks_of heap.pb.gz.raw "$2")"
}

# Every block is a sample, of the size of its class. Those that move in the same place are new ones.
run own_jemalloc "5.3.1-0-g81034ce1f1373e37dc865038e1bc8eeecf559ce8 111" heap
expect_counts "what is kept" keep "2000 224000 1990 222880"
expect_counts "what is freed" pass "1000 224000 0 0"
expect_counts "what is resized" resize "10 30720 10 30720"
expect_equal "its own walks of the stack" 0 "$(cat walks)"
expect_contains "the comment" comments "jemalloc 5.3.1, whose own profiler chooses the blocks"
expect_equal "its mappings, which are not the program's" "0 0 0 0" \
    "$(blocks_of heap.pb.gz.raw _rjem_pages_map)"
expect_equal "its functions in the stacks" "" "$(grep 'mallocx\|rallocx\|prof_malloc_sample_object' heap.pb.gz.raw || true)"

# Another rate is not for it.
run own_jemalloc "5.4.0 111" heap:64m
expect_counts "what is kept at another rate" keep "2000 224000 1990 222880"

# Until it is, only what it maps is seen.
mapping="1 67108864 1 67108864"
run own_jemalloc "5.3.1 110" heap
expect_counts "what is kept since it is active, and a mapping" keep "1001 67220864 1001 67220864"
expect_contains "the comment of one that waits" comments \
    "whose profiler waits until the program sets prof.active; until then its blocks are not seen"

run own_jemalloc "5.3.1 100" heap
expect_counts "without its profiler" keep "$mapping"
expect_contains "the comment of one that is off" comments \
    "whose profiler is off; when the program starts, this turns it on: _RJEM_MALLOC_CONF=prof:true; its blocks are not seen"
run own_jemalloc "5.3.1 000" heap
expect_contains "the comment of one that was built without" comments "which was built without its profiler"
run own_jemalloc "5.3.0-0-g54eaed1d 111" heap
expect_contains "the comment of an old one" comments "jemalloc 5.3.0, whose profiler has no hooks for samples"
expect_counts "of an old one" keep "$mapping"
# A version between the two has hooks, with other arguments.
run own_jemalloc "5.3.0-87-g1234567 111" heap
expect_contains "the comment of one that is nearly new" comments "jemalloc 5.3.0, whose profiler has no hooks for samples"
expect_counts "of one that is nearly new" keep "$mapping"

run own_jemalloc "5.3.1 111" heap,jemalloc=none
expect_counts "without its hooks" keep "$mapping"
expect_equal "the comment without its hooks" "" "$(grep jemalloc comments || true)"

run told_jemalloc "5.3.1 111" heap
expect_counts "of one with another prefix" keep "$mapping"
run told_jemalloc "5.3.1 111" heap,jemalloc=told_
expect_counts "of one with a prefix that is told" keep "2000 224000 1990 222880"

"$BUILD/bin/cpprof" doctor "$victims/own_jemalloc" >doctor 2>&1 || true
expect_contains "the doctor" doctor "the program has jemalloc inside"
expect_contains "what the doctor says mends it" doctor "_RJEM_MALLOC_CONF=prof:true"
echo ok
