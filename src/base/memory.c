/* SPDX-License-Identifier: MIT
 *
 * memory.c: maps and unmaps by system calls.
 *
 * Zone: SIGNAL.
 * Locks: none: a place of the list is taken by its address, and free again when its address is 0.
 * Owns: the list of what is mapped.
 * Tested by: unit.buffer, unit.memory, interleave.memory, e2e.heap_mappings
 */
#include "base/memory.h"

#include "arch/system_call.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

enum {
    WORTH_FILLING = 16 * 1024,
    /* The kernel provides or takes pages under the lock of the process's mappings: a tenth of a
     * millisecond for so many. Threads of the program that map memory wait for it. */
    AT_ONCE = 1024 * 1024,
    MOST_PARTS = 256, /* of what is large because most of it was never touched */
    /* Mappings of this size or more are left out of the host's core dumps, and have no transparent
     * huge pages: tables reserve more than they fill. */
    SPARSE = 256 * 1024,
    PLACES = 512 /* of the list: some tens are used; a table that grows has a few dozen more */
};

static const uintptr_t last_errno = 4095; /* the kernel returns -1 to -4095 for errors */

/*
 * Defined in a program with ThreadSanitizer, which does not see system calls. Without them, what one
 * thread wrote to memory that it has unmapped and what another one writes there, after the kernel has
 * given it the address, would look like a race.
 */
extern void tsan_acquire(void *address) __asm__("__tsan_acquire") __attribute__((weak));
extern void tsan_release(void *address) __asm__("__tsan_release") __attribute__((weak));
static const char unmapped; /* its address only */

/* A reader uses no address with the size of another one: the size is stored after the address, is 0 before the
 * address goes, and belongs to the address that is still there after it was read. */
static struct {
    uintptr_t start;
    size_t bytes;
} places[PLACES];

static void list(uintptr_t start, size_t bytes)
{
    for (size_t i = 0; i < PLACES; i++) {
        uintptr_t none = 0;
        if (__atomic_load_n(&places[i].start, __ATOMIC_RELAXED) == 0 &&
            __atomic_compare_exchange_n(&places[i].start, &none, start, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
            __atomic_store_n(&places[i].bytes, bytes, __ATOMIC_RELEASE);
            return;
        }
    }
}

static void unlist(uintptr_t start)
{
    for (size_t i = 0; i < PLACES; i++) {
        if (__atomic_load_n(&places[i].start, __ATOMIC_RELAXED) == start) {
            __atomic_store_n(&places[i].bytes, 0, __ATOMIC_RELAXED);
            __atomic_store_n(&places[i].start, 0, __ATOMIC_RELEASE);
            return;
        }
    }
}

void pp_memory_each(void (*visit)(uintptr_t start, size_t bytes, void *context), void *context)
{
    for (size_t i = 0; i < PLACES; i++) {
        uintptr_t start = __atomic_load_n(&places[i].start, __ATOMIC_ACQUIRE);
        size_t bytes = __atomic_load_n(&places[i].bytes, __ATOMIC_ACQUIRE);
        if (start != 0 && bytes != 0 &&
            __atomic_load_n(&places[i].start, __ATOMIC_RELAXED) == start) {
            visit(start, bytes, context);
        }
    }
}

/* The memory of a call that returned `at`. */
static void *mapped(long at, size_t bytes)
{
    if ((uintptr_t)at >= -last_errno) {
        return NULL;
    }
    list((uintptr_t)at, bytes);
    if (tsan_acquire != NULL) {
        tsan_acquire((void *)&unmapped);
    }
    if (bytes >= SPARSE) {
        pp_system_call(SYS_madvise, at, bytes, MADV_DONTDUMP);
        pp_system_call(SYS_madvise, at, bytes, MADV_NOHUGEPAGE);
    }
    return (void *)at;
}

static void before_unmapping(void)
{
    if (tsan_release != NULL) {
        tsan_release((void *)&unmapped);
    }
}

void *pp_memory_map(size_t bytes)
{
    return mapped(pp_system_call(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
                  bytes);
}

void *pp_memory_resize(void *memory, size_t bytes, size_t new_bytes)
{
    before_unmapping();
    unlist((uintptr_t)memory);
    void *moved =
        mapped(pp_system_call(SYS_mremap, memory, bytes, new_bytes, MREMAP_MAYMOVE), new_bytes);
    if (moved == NULL) {
        list((uintptr_t)memory, bytes);
    }
    return moved;
}

/* The size of the parts, but of the last one: a multiple of a page. */
static size_t part_of(size_t bytes)
{
    return (bytes / MOST_PARTS + AT_ONCE) & ~(size_t)(AT_ONCE - 1);
}

static size_t lesser(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Both addresses are multiples of a page. Ends where the kernel refuses. */
static void advise(uintptr_t from, uintptr_t limit, int advice)
{
    size_t part = part_of(limit - from);
    for (uintptr_t at = from; at < limit; at += lesser(part, limit - at)) {
        if (pp_system_call(SYS_madvise, at, lesser(part, limit - at), advice) != 0) {
            return;
        }
    }
}

/* Where the kernel cannot, it provides each page when it is used. */
void pp_memory_fill(void *memory, size_t bytes)
{
    const uintptr_t in_page = pp_page_bytes() - 1;
    uintptr_t from = ((uintptr_t)memory + in_page) & ~in_page;
    uintptr_t to = ((uintptr_t)memory + bytes) & ~in_page;
    if (to > from && to - from >= WORTH_FILLING) {
        advise(from, to, MADV_POPULATE_WRITE);
    }
}

void pp_memory_empty(void *memory, size_t bytes)
{
    const uintptr_t in_page = pp_page_bytes() - 1;
    uintptr_t from = ((uintptr_t)memory + in_page) & ~in_page;
    uintptr_t limit = ((uintptr_t)memory + bytes) & ~in_page;
    advise(from, limit, MADV_DONTNEED);
}

void pp_memory_unmap(void *memory, size_t bytes)
{
    before_unmapping();
    unlist((uintptr_t)memory);
    size_t part = part_of(bytes);
    for (size_t done = 0; done < bytes; done += lesser(part, bytes - done)) {
        pp_system_call(SYS_munmap, (char *)memory + done, lesser(part, bytes - done));
    }
}
