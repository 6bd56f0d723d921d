#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_call_slots.sh: while no kind needs its hooks, a program's calls go to libc directly; once the heap profile is
# on, it sees each call and each free, whichever way the program has come to its pointers, libraries and threads.
# libc: glibc, its program reads the loader's tables as glibc has them
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need cc go timeout

cat >library.c <<'C'
#include <stdlib.h>
static void *volatile last;
__attribute__((noinline)) void use_library(void) { for (int i = 0; i < 100; i++) last = malloc(100); }
__attribute__((noinline)) void free_blocks(void) { for (int i = 0; i < 100; i++) free(last = malloc(100)); }
void *(*pointer_to_malloc(void))(size_t) { return malloc; }
void (*pointer_to_free(void))(void *) { return free; }
__attribute__((constructor)) static void begin(void) { free(last = malloc(1000)); }
C
cc -O1 -fno-builtin -shared -fPIC -o library.so library.c

# run OPTIONS ARGUMENT...: the program that the loop below builds, with the library.
run() {
    options=$1
    shift
    code=0
    timeout -s KILL 60 env LIBPPROF="$options" LD_PRELOAD="$library" ./program "$@" ./library.so heap.pb.gz >out || code=$?
    expect_equal "status of $flags $*" 42 "$code"
}

for flags in "-fPIE -pie -Wl,-z,lazy" "-fPIE -pie -Wl,-z,relro,-z,now" "-fno-PIE -no-pie -Wl,-z,lazy" \
    "-fno-PIE -no-pie -Wl,-z,relro,-z,now"; do
    # shellcheck disable=SC2086 # words without blanks
    cc -O1 -fno-builtin -D_GNU_SOURCE $flags -o program "$SRC/test/e2e/victims/call_slots.c" -pthread -ldl -rdynamic
    case $flags in
    *now*) allowed=r--p ;;
    *) allowed=rw-p ;;
    esac
    run "" slots
    expect_equal "slots of $flags" " libc.so.6 libc.so.6 libc.so.6 libc.so.6 $allowed
 libpprof.so.0 libpprof.so.0 libpprof.so.0 libpprof.so.0 $allowed
 same" "$(cat out)"
    run "" fork
    expect_equal "slots of $flags in a child" " libpprof.so.0 libpprof.so.0 libpprof.so.0 libpprof.so.0 $allowed" "$(sed -n 2p out)"
    run "heap:1,file=$work/at_end.pb.gz" fork
    expect_equal "slots of $flags with the heap profile" \
        " libpprof.so.0 libpprof.so.0 libc.so.6 libc.so.6 $allowed" "$(head -n 1 out)"
    run "block,file=$work/at_end.pb.gz" fork
    expect_equal "slots of $flags with the block profile" \
        " libc.so.6 libc.so.6 libc.so.6 libpprof.so.0 $allowed" "$(head -n 1 out)"

    run "" calls
    raw heap.pb.gz
    for function in by_call by_pointer by_name by_libc use_library; do
        expect_equal "blocks of $function, $flags" "100 10000 100 10000" \
            "$(blocks_of heap.pb.gz.raw $function)"
    done
    for function in freed_by_pointer freed_by_call; do
        expect_equal "blocks of $function, $flags" "100 10000 0 0" \
            "$(blocks_of heap.pb.gz.raw $function)"
    done
done

run "" storm
raw heap.pb.gz
for function in allocate_and_free free_blocks begin; do
    found=$(blocks_of heap.pb.gz.raw $function)
    case $function-$found in
    allocate_and_free-"0 "* | free_blocks-"0 "*) fail "no blocks of $function" ;;
    *" 0 0") ;;
    *) fail "blocks of $function that were freed: $found" ;;
    esac
done
