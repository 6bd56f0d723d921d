/* SPDX-License-Identifier: MIT
 *
 * got_memory.h: makes pages with slots writable for a moment. Most slots are read-only once they
 * are bound (RELRO).
 *
 *   begin: what /proc/self/maps says --> open(address), open, ... --> close --> end
 *
 * Zone: NORMAL.
 * Owns: the page that is open: one at a time.
 */
#ifndef PP_ATTACH_GOT_MEMORY_H
#define PP_ATTACH_GOT_MEMORY_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_got_range {
    uintptr_t start, limit;
    int protection;
} pp_got_range;

typedef struct pp_got_memory {
    pp_arena arena;
    pp_got_range *ranges; /* ascending */
    size_t count;
    uintptr_t open; /* the page that was made writable; 0: none */
    int before;     /* its protection */
} pp_got_memory;

/* Reads the protections. What is mapped later is unknown. */
void pp_got_memory_begin(pp_got_memory *m);
void pp_got_memory_end(pp_got_memory *m);

/* Makes the page of the address writable; the page that was open gets its protection back. False if
 * the kernel refuses, or the page is unknown. */
bool pp_got_memory_open(pp_got_memory *m, uintptr_t address);

/* Gives the open page its protection back. */
void pp_got_memory_close(pp_got_memory *m);

#endif
