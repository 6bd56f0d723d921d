/* SPDX-License-Identifier: MIT
 *
 * libc_arenas.h: finds the memory of glibc's allocator by what it writes there.
 *
 *   [heap]                          the main arena, by the name that the kernel gives it
 *   64 MiB-aligned heap_info        the heaps of the other arenas, one or more for each
 *   page-aligned chunk headers      large blocks, each a mapping of its own
 *
 * No lock is taken and no function of the allocator called: memory is read that may change meanwhile,
 * and each word is checked.
 *
 * Layouts: heap_info and malloc_chunk in glibc's malloc/arena.c and malloc/malloc.c, the same since 2.3.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#ifndef PP_KINDS_HEAP_LIBC_ARENAS_H
#define PP_KINDS_HEAP_LIBC_ARENAS_H

#include "base/arena.h"
#include "kinds/heap/page_runs.h"
#include "kinds/heap/resident.h"
#include "sys/safe_read.h"

#include <stddef.h>

enum {
    PP_LIBC_LARGE = 0,     /* `who` of a large block's span */
    PP_LIBC_MAIN_ARENA = 1 /* that of the main arena; the others follow */
};

typedef struct pp_libc_arenas {
    pp_resident_span *spans;
    size_t count, capacity;
    uint64_t arenas; /* with the main one */
} pp_libc_arenas;

/*
 * Finds them in the areas of a process, whose memory is `memory` (NULL: this one). 0 or -ENOMEM.
 * `pages`, open (NULL: it is not known which pages are there), keeps it from touching absent pages. The kernel
 * would put its page of zeros there, which older kernels than 6.7 do not tell from memory.
 */
int pp_libc_arenas_find(const pp_smaps *areas, const pp_memory *memory, pp_page_runs *pages,
                        pp_arena *arena, pp_libc_arenas *found);

#endif
