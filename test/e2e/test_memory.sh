#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_memory.sh: the memory profile of a program that says what it holds: blocks in a hundred arenas, a large one, one
# that was never touched, stacks, mappings, shared memory, a file, variables. They add up to what the kernel counts.
# libc: glibc, musl's allocator has one arena, and no numbers
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go
[ -r /proc/self/smaps_rollup ] || skip "the kernel has no smaps_rollup (Linux 4.14)"

kib() { echo $(($1 * 1024)); }
said() { kib "$(sed -n "s/^$1 //p" said)"; }
dd if=/dev/zero of=file bs=1M count=4 2>dd.err || fail "$(cat dd.err)"

# start OPTIONS [WORD]: the victim, which has said what it holds, as $victim.
start() {
    rm -f input socket
    mkfifo input
    : >said
    preload "$1,http=unix:$work/socket" "$victims/holders" file ${2:+"$2"} <input >said 2>err &
    process=$!
    started="$started $process"
    exec 9>input
    wait_until has_line said ready
    victim=$(sed -n 's/^pid //p' said)
}
end() {
    exec 9>&-
    ends_with 0 $process
}
resident() { awk '$1 == "Rss:" { print $2 * 1024 }' "/proc/$victim/smaps_rollup"; }

# ask NAME: the profile, and what the kernel counts.
ask() {
    "$BUILD/bin/cpprof" merge -o "$1.pb.gz" "unix:$work/socket:/debug/pprof/memory" || fail "no profile"
    raw "$1.pb.gz"
    expect_equal "sample types" "resident/bytes[dflt] private/bytes swapped/bytes" "$(sed -n '/^Samples:/{n;p;}' "$1.pb.gz.raw")"
    expect_near "sum of $1" "$(resident)" "$(weight "$1.pb.gz.raw")" "$(percent "$(resident)" 2)"
    expect_near "sum of $1, and VmRSS" "$(awk '$1 == "VmRSS:" { print $2 * 1024 }' "/proc/$victim/status")" \
        "$(weight "$1.pb.gz.raw")" "$(rss_error "$victim" "$(resident)")"
    ! comments "$1.pb.gz.raw" | grep 'no single moment' || fail "$1 is not coherent"
}
held() { weight_with "$@"; }
own_page=$(getconf PAGESIZE)

# Every block is known. A thread's stack has what it touches, and a few pages around it.
start heap:1
ask all
expect_near "blocks" "$(said blocks)" "$(held all.pb.gz.raw make_block pprof_memory_blocks)" 1024
expect_equal "a large block" "$(said large)" "$(held all.pb.gz.raw make_large pprof_memory_blocks)"
# But the page where the allocator has written its header.
expect_near "a block that was never touched" 0 "$(held all.pb.gz.raw make_untouched)" $own_page
expect_equal "a mapping, half of it touched" "$(said mapped)" "$(held all.pb.gz.raw mmap map_memory main pprof_memory_mappings)"
expect_equal "shared memory" "$(said shared)" "$(held all.pb.gz.raw map_shared main pprof_memory_shared)"
expect_equal "a file" "$(said file)" "$(held all.pb.gz.raw map_file main pprof_memory_files)"
expect_at_least "variables" "$(said variables)" "$(held all.pb.gz.raw pprof_memory_data)"
expect_near "variables" "$(said variables)" "$(held all.pb.gz.raw pprof_memory_data)" "$(kib 1024)"
expect_near "stacks" "$(said stacks)" "$(held all.pb.gz.raw pprof_memory_stacks)" "$((100 * 6 * own_page))"
# Two of three blocks are free, with a header of 8 bytes each; what was allocated last is in one piece at the end.
expect_near "memory that is free" $((2 * $(said blocks))) "$(held all.pb.gz.raw pprof_memory_allocator)" \
    "$(percent "$(said blocks)" 25)"
expect_equal "arenas" 101 "$(grep -c 'arena:\[' all.pb.gz.raw)"
comments all.pb.gz.raw | grep -q 'from 101 arenas' || fail "comments: $(comments all.pb.gz.raw)"
# All but what came after the fork is shared with the child.
comments all.pb.gz.raw | grep -q 'shared with other processes' || fail "comments: $(comments all.pb.gz.raw)"
end

# With sampling the blocks are an estimate, whose sum is what the allocator knows.
start heap
ask sampled
expect_near "all blocks" "$(($(said blocks) + $(said large)))" "$(held sampled.pb.gz.raw pprof_memory_blocks)" \
    "$(percent "$(said blocks)" 10)"
expect_near "memory that is free, by samples" $((2 * $(said blocks))) "$(held sampled.pb.gz.raw pprof_memory_allocator)" \
    "$(percent "$(said blocks)" 25)"
comments sampled.pb.gz.raw | grep -q 'standard error' || fail "comments: $(comments sampled.pb.gz.raw)"
end

# Where no block is sampled there is no estimate.
start heap:1000g
ask unsampled
comments unsampled.pb.gz.raw | grep -q 'no live block is a sample: live blocks have no stacks, and are what the allocator has given out' ||
    fail "comments: $(comments unsampled.pb.gz.raw)"
! comments unsampled.pb.gz.raw | grep -E 'standard error|not recorded' || fail "comments: $(comments unsampled.pb.gz.raw)"
expect_at_least "blocks without a sample" "$(($(said blocks) + $(said large)))" "$(held unsampled.pb.gz.raw pprof_memory_blocks)"
end

# Without the heap profile the allocator's number is all that is known of blocks, touched or not.
start thread
ask off
comments off.pb.gz.raw | grep -q 'heap is not recorded' || fail "comments: $(comments off.pb.gz.raw)"
expect_near "stacks without heap" "$(said stacks)" "$(held off.pb.gz.raw pprof_memory_stacks)" "$((100 * 6 * own_page))"
expect_at_least "blocks without heap" "$(($(said blocks) + $(said large)))" "$(held off.pb.gz.raw pprof_memory_blocks)"
end
echo ok
