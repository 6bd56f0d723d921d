#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, whose allocator tags its blocks
#
# test_tags_aarch64.sh: a program whose heap is tagged (MTE, each wrong access faults at once) runs with the library as
# without tags: the same blocks are counted, and the same are lost.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go readelf
readelf -h "$library" | grep -q AArch64 || skip "not built for aarch64"

# with_tags MODE OPTIONS COMMAND...: MODE 3 is that of glibc in which a fault is precise, 0 has no tags. Where the processor is
# another one, by qemu-user: what a virtual machine of QEMU 7.2 does with tags is wrong.
with_tags() {
    tunable=GLIBC_TUNABLES=glibc.mem.tagging=$1
    options=$2
    shift 2
    if [ "$(uname -m)" = aarch64 ]; then
        env "$tunable" LIBPPROF="$options" LD_PRELOAD="$library" "$@"
    else
        env QEMU_SET_ENV="$tunable,LD_PRELOAD=$library" LIBPPROF="$options" "$SRC/tools/port" aarch64 run "$@"
    fi
}
[ "$(uname -m)" = aarch64 ] || ROOT_FOLDER=$("$SRC/tools/port" aarch64 folder) # of libc and its loader
if [ "$(uname -m)" = aarch64 ]; then
    grep -qw mte /proc/cpuinfo || skip "the processor has no tags"
    GLIBC_TUNABLES=glibc.mem.tagging=3 ls >ls.out || skip "programs with a tagged heap do not run here"
fi

with_tags 3 "alloctrace,log=$work/trace" "$victims/alloctrace" kinds >said 2>&1 || true
grep -Eq '^tracealloc\(0x[0-9a-f]{15,16},' trace || fail "no block has a tag: $(cat said; head -n 20 trace)"

for mode in 0 3; do
    with_tags $mode "cpu:1000,heap:1,leak,file=$work/$mode.%k.pb.gz" "$victims/leaks" >said.$mode 2>&1 ||
        fail "status with tags of mode $mode: $(tail -n 3 said.$mode)"
    expect_whole $mode.cpu.pb.gz
    raw $mode.heap.pb.gz
    raw $mode.leak.pb.gz
done
for function in lost_blocks lost_large; do
    expect_equal "blocks of $function" "$(blocks_of 0.heap.pb.gz.raw $function)" "$(blocks_of 3.heap.pb.gz.raw $function)"
    expect_at_least "lost blocks of $function" 1 "$(weight_with 3.leak.pb.gz.raw $function)"
    expect_equal "lost blocks of $function" "$(weight_with 0.leak.pb.gz.raw $function)" \
        "$(weight_with 3.leak.pb.gz.raw $function)"
done
echo ok
