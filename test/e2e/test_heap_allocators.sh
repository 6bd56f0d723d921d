#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_heap_allocators.sh: C and C++ programs under each allocator that is installed, preloaded behind us
# and before us.
# libc: glibc, its victims are the distribution's programs
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
need go

PATH=$PATH:/sbin
find_library() { ldconfig -p | sed -n "s|.*$1.* => ||p" | head -n 1; }

tested=
check() { # NAME LIBRARY
    name=$1 allocator=$2
    [ "$name" = libc ] || [ -n "$allocator" ] || return 0
    tested="$tested $name"

    # Every block is seen once: where operator new is the allocator's own, and where it calls malloc.
    rm -f ./*.raw ./*.pb.gz
    throw=throw
    [ "$name" != mimalloc ] || throw= # its operator new ends the process, as it is built in Debian
    expect_equal "output with $name" "${throw:+thrown 201, handled 3}" \
        "$(env LD_PRELOAD="$library $allocator" LIBPPROF="heap:1,file=$work/p.pb.gz" \
            "$victims/heap_cxx" $throw)"
    raw p.pb.gz
    expect_blocks() { # FUNCTION BLOCKS BYTES BLOCKS_IN_USE BYTES_IN_USE
        expect_equal "blocks of $1 with $name" "$2 $3 $4 $5" "$(blocks_of p.pb.gz.raw "$1" main)"
    }
    expect_blocks by_new 1000 1000000 1000 1000000
    expect_blocks by_new_array 1000 2000000 1000 2000000
    expect_blocks by_new_nothrow 2000 1000000 2000 1000000
    expect_blocks by_new_aligned 2000 8192000 2000 8192000
    expect_blocks by_new_aligned_nothrow 2000 8192000 2000 8192000
    expect_blocks freed_by_delete 6000 600000 0 0
    expect_blocks freed_by_delete_aligned 6000 768000 0 0
    map=$(blocks_of p.pb.gz.raw by_map main)
    expect_at_least "blocks of by_map with $name" 2900 "$(field 1 "$map")"
    expect_equal "in use of by_map with $name" "0 0" "$(field 3- "$map")"

    env LD_PRELOAD="$library $allocator" LIBPPROF="heap:1,file=$work/c.pb.gz" "$victims/heap" shares
    raw c.pb.gz
    expect_equal "blocks of three_quarters with $name" "300000 300000000 0 0" \
        "$(blocks_of c.pb.gz.raw three_quarters)"
    expect_equal "blocks of one_quarter_kept with $name" "100000 100000000 100000 100000000" \
        "$(blocks_of c.pb.gz.raw one_quarter_kept)"

    # An allocator that was preloaded before us has the program's malloc. Nothing breaks, and we say so.
    [ -n "$allocator" ] || return 0
    rm -f p.pb.gz
    env LD_PRELOAD="$allocator $library" LIBPPROF="heap:1,file=$work/p.pb.gz" "$victims/heap_cxx" \
        $throw >output 2>errors
    expect_contains "messages with $name before us" errors "heap profile will be empty"
    raw p.pb.gz
    # What the allocator maps for itself is the program's, and larger than any block of by_new.
    expect_equal "blocks of by_new with $name before us" "" \
        "$(blocks p.pb.gz.raw | awk '/by_new/ && $5 < 65536')"
}

check libc ""
check jemalloc "$(find_library 'libjemalloc\.so\.2')"
check tcmalloc "$(find_library 'libtcmalloc\.so\.4')"
check tcmalloc_minimal "$(find_library 'libtcmalloc_minimal\.so\.4')"
check mimalloc "$(find_library 'libmimalloc\.so\.[23]')"

# One that maps its memory when it is asked for it for the first time.
if command -v cc >/dev/null; then
    cat >maps.c <<'C'
#include <string.h>
#include <sys/mman.h>
void *malloc(size_t size)
{
    static char *next, *limit;
    size = (size + 31) & ~(size_t)15;
    if (next == NULL || (size_t)(limit - next) < size) {
        size_t room = size > 1 << 24 ? size : 1 << 24;
        next = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (next == MAP_FAILED) return NULL;
        limit = next + room;
    }
    char *block = next;
    next += size;
    *(size_t *)block = size - 16;
    return block + 16;
}
void free(void *block) { (void)block; }
void *calloc(size_t count, size_t size) { return malloc(count * size); }
void *realloc(void *old, size_t size)
{
    char *block = malloc(size);
    size_t had = old != NULL ? ((size_t *)old)[-2] : 0;
    if (block != NULL && old != NULL) memcpy(block, old, had < size ? had : size);
    return block;
}
C
    cc -O1 -fno-builtin -fPIC -shared -o maps.so maps.c
    env LD_PRELOAD="./maps.so $library" LIBPPROF="heap:1,file=$work/p.pb.gz" "$victims/heap" shares 2>errors
    expect_contains "messages with an allocator that maps, before us" errors "heap profile will be empty"
fi

# Programs that call an allocator by its own names. mimalloc's: linked to it, without any header of its.
mimalloc=$(find_library 'libmimalloc\.so\.[23]')
if [ -n "$mimalloc" ] && command -v cc >/dev/null; then
    cat >own_names.c <<'C'
#include <stddef.h>
#include <string.h>
void *mi_malloc(size_t), *mi_zalloc(size_t), *mi_calloc(size_t, size_t), *mi_realloc(void *, size_t);
void *mi_rezalloc(void *, size_t), *mi_reallocn(void *, size_t, size_t), *mi_malloc_aligned(size_t, size_t);
void *mi_heap_new(void), *mi_heap_malloc(void *, size_t), *mi_heap_calloc(void *, size_t, size_t);
void *mi_heap_realloc(void *, void *, size_t);
void mi_free(void *), mi_free_size(void *, size_t);
void *aligned_alloc(size_t, size_t);
static void *kept[7000];
static int count;
static void keep(void *block) { memset(block, 1, 100); kept[count++] = block; }
static void *heap;
void kept_blocks(void)
{
    for (int i = 0; i < 1000; i++) {
        keep(mi_malloc(100));
        keep(mi_zalloc(200));
        keep(mi_calloc(3, 100));
        keep(mi_heap_malloc(heap, 400));
        keep(mi_heap_calloc(heap, 5, 100));
        keep(mi_heap_realloc(heap, mi_heap_malloc(heap, 10), 600));
    }
}
void resized_blocks(void)
{
    for (int i = 0; i < 1000; i++) {
        mi_free(mi_reallocn(mi_rezalloc(mi_realloc(mi_malloc(10), 2000), 3000), 4, 1000));
        mi_free_size(mi_malloc(20), 20);
    }
}
void aligned_blocks(void)
{
    for (int i = 0; i < 1000; i++) {
        kept[count++] = aligned_alloc(64, 640);
    }
}
int main(void) { heap = mi_heap_new(); kept_blocks(); resized_blocks(); aligned_blocks(); return 0; }
C
    cc -O1 -fno-inline -fno-builtin -o own_names own_names.c "$mimalloc"
    preload "heap:1,file=$work/own.pb.gz" ./own_names
    raw own.pb.gz
    expect_equal "blocks by mimalloc's own names" "7000 2110000 6000 2100000" \
        "$(blocks_of own.pb.gz.raw kept_blocks main)"
    expect_equal "blocks that are resized by mimalloc's own names" "5000 9030000 0 0" \
        "$(blocks_of own.pb.gz.raw resized_blocks main)"
    expect_equal "blocks that are counted once" "1000 640000 1000 640000" \
        "$(blocks_of own.pb.gz.raw aligned_blocks main)"
    # What mimalloc calls in itself by its own names is not shown, whatever it is called (mi_reallocn, mi_heap_new_in_arena).
    for function in kept_blocks resized_blocks aligned_blocks; do
        expect_equal "leaves of $function" $function "$(leaves_of own.pb.gz.raw $function)"
    done
    expect_equal "functions of mimalloc" 0 "$(grep -c ' mi_' own.pb.gz.raw)"

    # mimalloc calls itself by these names: what is aligned must not be counted at several of them. (Each
    # of the 2000 blocks of 4096 bytes is sampled with probability 1 - 1/e: standard deviation 34.)
    env LD_PRELOAD="$library $mimalloc" LIBPPROF="heap:4k,file=$work/cxx.pb.gz" "$victims/heap_cxx"
    raw cxx.pb.gz
    for function in by_new_aligned by_new_aligned_nothrow; do
        expect_near "blocks of $function at a rate of 4k" 2000 \
            "$(field 1 "$(blocks_of cxx.pb.gz.raw "$function" main)")" 204
    done
fi

# jemalloc as Rust has it, with a prefix: a library stands for it here.
if command -v cc >/dev/null; then
    cat >prefixed.c <<'C'
#include <stddef.h>
void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
void __libc_free(void *);
void *_rjem_malloc(size_t size) { return __libc_malloc(size); }
void *_rjem_calloc(size_t count, size_t size) { return __libc_calloc(count, size); }
void *_rjem_realloc(void *block, size_t size) { return __libc_realloc(block, size); }
void *_rjem_mallocx(size_t size, int flags) { return flags ? NULL : __libc_malloc(size); }
void _rjem_sdallocx(void *block, size_t size, int flags) { (void)size, (void)flags; __libc_free(block); }
C
    cat >rust.c <<'C'
#include <stddef.h>
void *_rjem_malloc(size_t), *_rjem_calloc(size_t, size_t), *_rjem_realloc(void *, size_t);
void *_rjem_mallocx(size_t, int);
void _rjem_sdallocx(void *, size_t, int);
static void *volatile last;
void some_blocks(void)
{
    for (int i = 0; i < 1000; i++) {
        last = _rjem_malloc(100);
        last = _rjem_calloc(2, 100);
        _rjem_sdallocx(_rjem_realloc(_rjem_mallocx(300, 0), 400), 400, 0);
    }
}
int main(void) { some_blocks(); return 0; }
C
    cc -O1 -shared -fPIC -o libprefixed.so prefixed.c
    cc -O1 -fno-inline -o rust rust.c ./libprefixed.so
    preload "heap:1,file=$work/rust.pb.gz" ./rust
    raw rust.pb.gz
    expect_equal "blocks with the prefix of Rust's jemalloc" "4000 1000000 2000 300000" \
        "$(blocks_of rust.pb.gz.raw some_blocks main)"
    expect_equal "leaves of some_blocks" some_blocks "$(leaves_of rust.pb.gz.raw some_blocks)"
fi
echo "ok:$tested"
