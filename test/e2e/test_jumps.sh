#!/bin/sh
# SPDX-License-Identifier: MIT
# libc: glibc, the program hangs in musl's waits without the library, too
# nightly: 2
#
# test_jumps.sh: a signal handler jumps out of what is hooked, or ends the thread there; the program does
# not notice us, and we get over it.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need cc go timeout

# ---- out of waits ----

# jumps OUTPUT COMMAND...
jumps() {
    jumps_output=$1
    shift
    jumps_status=0
    timeout -s KILL 60 "$@" "$victims/jumps" >"$jumps_output" || jumps_status=$?
    expect_equal "status of $*" 42 "$jumps_status"
}

jumps bare env
for options in block:1 mutex:1 block:1,mutex:1 cpu:1000,heap:1,block:1,mutex:1,thread,fd; do
    jumps preloaded env LIBPPROF="$options,file=$work/jumps.%k.pb.gz" LD_PRELOAD="$library"
    cmp bare preloaded || fail "with $options: $(diff bare preloaded)"
done
# A thread that ends inside a wait which is a cancellation point has waited.
raw jumps.block.pb.gz
for wait in condition semaphore thread; do
    expect_at_least "waits in wait_for_$wait" 1 "$(weight_with jumps.block.pb.gz.raw "wait_for_$wait")"
done
# ---- out of malloc ----

# An allocator that minds neither: each block is new, and whatever was left is one piece of memory less.
cat >own.c <<'EOC'
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
enum { HEADER = 16 };
static const size_t arena_bytes = (size_t)8 << 30;
static char *arena;
static size_t used;
void *memalign(size_t alignment, size_t size)
{
    size_t all = (size + HEADER + alignment + 15) & ~(size_t)15;
    if (__atomic_load_n(&arena, __ATOMIC_ACQUIRE) == NULL) {
        char *none = NULL;
        char *mine = mmap(NULL, arena_bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        __atomic_compare_exchange_n(&arena, &none, mine, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    }
    size_t at = __atomic_fetch_add(&used, all, __ATOMIC_RELAXED) + (size_t)arena + HEADER;
    size_t *block = (size_t *)((at + alignment - 1) & ~(alignment - 1));
    block[-2] = size;
    return block;
}
void *malloc(size_t size) { return memalign(16, size); }
void *calloc(size_t count, size_t size) { return memalign(16, count * size); }
void free(void *block) { (void)block; }
void *realloc(void *block, size_t size)
{
    size_t before = block != NULL ? ((size_t *)block)[-2] : 0;
    void *other = malloc(size);
    return before == 0 ? other : memcpy(other, block, before < size ? before : size);
}
EOC
cc -O1 -shared -fPIC -fno-builtin -o own.so own.c

for options in heap:1 heap:1,block:1,mutex:1,cpu:1000,fd; do
    for storm in "jump 20000" "fork 100" "cancel 300"; do
        # shellcheck disable=SC2086 # two arguments
        expect_equal "status of heap_jumps $storm with $options" 42 "$(status timeout -s KILL 100 env \
            LD_BIND_NOW=1 LIBPPROF="$options,file=$work/heap_jumps.%k.pb.gz" \
            LD_PRELOAD="$library $work/own.so" "$victims/heap_jumps" $storm)"
        raw heap_jumps.heap.pb.gz
        # Of two threads, a thousand blocks each; the first ones of a thread that jumped may be taken for
        # those of the call that was left.
        found=$(blocks_of heap_jumps.heap.pb.gz.raw allocates_after)
        expect_at_least "blocks in use of allocates_after, after $storm" 1900 "$(field 3 "$found")"
        found=$(blocks_of heap_jumps.heap.pb.gz.raw frees_after)
        expect_at_least "blocks of frees_after, after $storm" 1900 "$(field 1 "$found")"
        expect_equal "blocks in use of frees_after, after $storm" 0 "$(field 3 "$found")"
        expect_equal "lost samples after $storm" "0 0 0 0" \
            "$(blocks_of heap_jumps.heap.pb.gz.raw pprof_lost_samples)"
    done
done
echo ok
