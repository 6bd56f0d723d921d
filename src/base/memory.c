/* SPDX-License-Identifier: MIT
 *
 * memory.c: calls mmap, mremap and munmap with the mark set.
 *
 * Zone: SIGNAL.
 * Tested by: unit.buffer
 */
#include "base/memory.h"

#include "base/marks.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

enum { PAGE_BYTES = 4096, WORTH_FILLING = 4 * PAGE_BYTES };

/* Defined in a program with ThreadSanitizer, which tracks only mmap and munmap: a write of another
 * thread at an address, before mremap moved memory there, would look like a race. Never called. */
extern void tsan_is_there(void) __asm__("__tsan_init") __attribute__((weak));

/* Keeps large tables out of core dumps, which have no use for them. */
static void *leave_out_of_dumps(void *memory, size_t bytes)
{
    if (memory != NULL && bytes >= PP_MEMORY_NOT_DUMPED) {
        madvise(memory, bytes, MADV_DONTDUMP);
    }
    return memory;
}

void *pp_memory_map(size_t bytes)
{
    pp_thread_marks.memory_is_calling = true;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    pp_thread_marks.memory_is_calling = false;
    /* cppcheck-suppress memleak; it is returned */
    return leave_out_of_dumps(memory != MAP_FAILED ? memory : NULL, bytes);
}

static void *resize_by_copy(void *memory, size_t bytes, size_t new_bytes)
{
    void *copy = pp_memory_map(new_bytes);
    if (copy != NULL) {
        memcpy(copy, memory, bytes < new_bytes ? bytes : new_bytes);
        pp_memory_unmap(memory, bytes);
    }
    return copy;
}

void *pp_memory_resize(void *memory, size_t bytes, size_t new_bytes)
{
    if (tsan_is_there != NULL) {
        return resize_by_copy(memory, bytes, new_bytes);
    }
    pp_thread_marks.memory_is_calling = true;
    void *resized = mremap(memory, bytes, new_bytes, MREMAP_MAYMOVE);
    pp_thread_marks.memory_is_calling = false;
    return leave_out_of_dumps(resized != MAP_FAILED ? resized : NULL, new_bytes);
}

/* Where the kernel cannot, it provides each page when it is used. */
void pp_memory_fill(void *memory, size_t bytes)
{
    uintptr_t from = ((uintptr_t)memory + PAGE_BYTES - 1) & ~(uintptr_t)(PAGE_BYTES - 1);
    uintptr_t to = ((uintptr_t)memory + bytes) & ~(uintptr_t)(PAGE_BYTES - 1);
    if (to > from && to - from >= WORTH_FILLING) {
        int saved = errno;
        madvise((void *)from, to - from, MADV_POPULATE_WRITE);
        errno = saved;
    }
}

void pp_memory_unmap(void *memory, size_t bytes)
{
    pp_thread_marks.memory_is_calling = true;
    munmap(memory, bytes);
    pp_thread_marks.memory_is_calling = false;
}
