#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_static.sh: programs that are linked with -static and -static-pie, in C and in C++: what the library stands in
# front of does what it should, and all kinds of profiles are right; the heap profile with the options of
# libpprof_static.wrap, and refused without them. libpprof.a in such a program says what to link instead.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go cc
! has_cxx || need c++
archive=$BUILD/lib/libpprof_static.a
wrap=-Wl,@$BUILD/lib/libpprof_static.wrap
! is_musl "$library" || ROOTS="libc_start_main_stage2 start" # in a static program they have names
[ -e "$archive" ] || skip "libpprof_static.a was not built: there is no libc.a that it knows"

# No pprof_ function is called in them: the library comes with what it hooks.
build() { # COMPILER SOURCE FLAGS...
    build_with=$1
    build_source=$2
    shift 2
    rm -f program
    $build_with -w -O1 -g -fno-inline -fno-optimize-sibling-calls -fomit-frame-pointer -D_GNU_SOURCE \
        -I "$SRC/include" -o program "$SRC/test/e2e/static/$build_source" "$@" -lz 2>messages ||
        fail "$build_source $*: $(cat messages)"
    [ ! -s messages ] || fail "the linker complains: $(cat messages)"
}

run() { # OPTIONS: the program, quiet and successful with and without them
    ./program >plain || fail "without options: $?"
    LIBPPROF=$1 ./program >out 2>errors || fail "with $1: $? $(cat errors)"
    cmp plain out || fail "another output with $1"
}

expect_cpu_and_waits() {
    expect_whole cpu.pb.gz
    for function in burn_in_main burn_in_thread; do
        expect_share "$function" 200 "$(weight_with cpu.pb.gz.raw "$function")"
    done
    raw block.pb.gz
    raw mutex.pb.gz
    expect_at_least "waits in main" 1 "$(weight_with block.pb.gz.raw pthread_cond_timedwait use_locks main)"
}

for how in -static -static-pie; do
    build cc whole.c $how "$archive" "$wrap"
    run "cpu:1000,heap:1,block,mutex,file=$work/%k.pb.gz"
    expect_equal "messages" "" "$(cat errors)"
    expect_cpu_and_waits
    raw heap.pb.gz
    expect_equal "kept blocks, $how" "1000 1000000 1000 1000000" "$(blocks_of heap.pb.gz.raw keep_blocks main)"
    expect_equal "freed and resized blocks, $how" "2000 11000000 0 0" "$(blocks_of heap.pb.gz.raw free_blocks main)"
    expect_equal "leaves, $how" "free_blocks keep_blocks" \
        "$(echo "$(leaves_of heap.pb.gz.raw free_blocks) $(leaves_of heap.pb.gz.raw keep_blocks)")"
    rm -f ./*.pb.gz

    ! is_musl "$library" || continue # where all hooks need the options
    build cc whole.c $how "$archive"
    run "cpu:1000,heap:1,block,mutex,file=$work/%k.pb.gz"
    expect_contains "the refusal" errors "has to be linked with the options in libpprof_static.wrap"
    expect_cpu_and_waits
    rm -f ./*.pb.gz

    has_cxx || continue
    build c++ whole.cc $how "$archive" "$wrap"
    run "heap:1,file=$work/%k.pb.gz"
    raw heap.pb.gz
    # A node and a text for each.
    expect_equal "blocks of the map, $how" "20000 20000" \
        "$(field 1,3 "$(blocks_of heap.pb.gz.raw keep_map main)" | awk '{ print $1 - 1, $2 - 1 }')"
    expect_equal "leaves that are allocators, $how" "" "$(allocators_of heap.pb.gz.raw)"
    rm -f ./*.pb.gz
done

# A malloc that the program brings itself, without the options and with them.
own=$SRC/test/e2e/static/own_malloc.c
if ! is_musl "$library"; then
    build cc whole.c -static "$own" "$archive"
    run "cpu:1000,file=$work/cpu.pb.gz"
fi
build cc whole.c -static "$own" "$archive" "$wrap"
run "heap:1,file=$work/heap.pb.gz"
raw heap.pb.gz
expect_equal "kept blocks, own malloc" "1000 1000000 1000 1000000" \
    "$(blocks_of heap.pb.gz.raw keep_blocks main)"
expect_equal "leaves, own malloc" keep_blocks "$(leaves_of heap.pb.gz.raw keep_blocks)"

# The options in a program that calls no malloc: libc does.
echo '#include <stdio.h>
int main(void) { return puts("hello") < 0 || fopen("/dev/null", "r") == NULL; }' >hello.c
cc -static -o program hello.c "$archive" "$wrap" -lz 2>messages || fail "hello: $(cat messages)"
run "heap:1,file=$work/hello.pb.gz"
raw hello.pb.gz
expect_at_least "blocks of libc" 1 "$(field 1 "$(blocks_of hello.pb.gz.raw main)")"

# What libc's allocator says of itself is in the text.
cat >text.c <<'C'
#include <pprof.h>
#include <stdlib.h>
int main(void)
{
    void *volatile kept = malloc(3000000);
    return pprof_profile_write(pprof_lookup("heap"), pprof_writer_fd(1), 1) != 0 || kept == NULL;
}
C
cc -static -I "$SRC/include" -o program text.c "$archive" "$wrap" -lz 2>messages || fail "text: $(cat messages)"
./program >text || fail "text: $?"
alloc=$(sed -n 's/^# HeapAlloc = //p' text)
expect_at_least "HeapAlloc of a static program" 3000000 "${alloc:-0}"
expect_at_least "HeapSys of a static program" "${alloc:-0}" "$(sed -n 's/^# HeapSys = //p' text)"

# No opening is seen in one, but what is open at the end is known.
LIBPPROF="fd,file=$work/fd.pb.gz" ./program 9</dev/null >text || fail "fd: $?"
raw fd.pb.gz
expect_at_least "descriptors of a static program" 4 "$(weight fd.pb.gz.raw)"
expect_equal "by whom they were opened" "$(weight fd.pb.gz.raw)" \
    "$(($(weight_with fd.pb.gz.raw pprof_earlier_descriptor) + $(weight_with fd.pb.gz.raw pprof_unseen_descriptor)))"

if has_cxx; then
    build c++ whole.cc -static "$archive"
    run "cpu:1000,file=$work/cpu.pb.gz"
fi

cc -w -static -D_GNU_SOURCE -I "$SRC/include" -o program "$SRC/test/e2e/static/whole.c" "$BUILD/lib/libpprof.a" -lz \
    2>/dev/null || skip "libpprof.a cannot be linked statically here"
expect_equal "status of libpprof.a in a static program" 127 "$(status ./program 2>errors)"
expect_contains "the message" errors "link libpprof_static.a instead"
echo ok
