/* SPDX-License-Identifier: MIT
 *
 * memory.c: mmap, mremap and munmap with the mark set.
 *
 * Zone: SIGNAL.
 * Locks: none.
 * Owns: the mark.
 */
#include "base/memory.h"

#include <sys/mman.h>

PP_TLS bool pp_memory_is_calling;

void *pp_memory_map(size_t bytes)
{
    pp_memory_is_calling = true;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    pp_memory_is_calling = false;
    /* cppcheck-suppress memleak; it is returned */
    return memory != MAP_FAILED ? memory : NULL;
}

void *pp_memory_resize(void *memory, size_t bytes, size_t new_bytes)
{
    pp_memory_is_calling = true;
    void *resized = mremap(memory, bytes, new_bytes, MREMAP_MAYMOVE);
    pp_memory_is_calling = false;
    return resized != MAP_FAILED ? resized : NULL;
}

void pp_memory_unmap(void *memory, size_t bytes)
{
    pp_memory_is_calling = true;
    munmap(memory, bytes);
    pp_memory_is_calling = false;
}
