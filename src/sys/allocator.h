/* SPDX-License-Identifier: MIT
 *
 * allocator.h: statistics of the program's allocator.
 *
 * The allocators take the locks of all their arenas for it, and hold each as long as they count: no
 * call comes from a signal handler, which may have interrupted a thread that holds one.
 *
 * Zone: NORMAL.
 * Locks: none here; the allocator takes its own.
 */
#ifndef PP_SYS_ALLOCATOR_H
#define PP_SYS_ALLOCATOR_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pp_allocator_use {
    uint64_t mapped; /* bytes that the allocator has from the kernel, large blocks included */
    uint64_t used;   /* bytes of allocated blocks, headers included */
} pp_allocator_use;

/* Returns false if the program has another allocator, or if libc has no statistics. */
bool pp_allocator_read(pp_allocator_use *use);

/* What the allocator says of itself, whichever it is. */
typedef struct pp_allocator_report {
    const char *name; /* "glibc", "jemalloc", "tcmalloc", "mimalloc"; NULL: it is not known */
    bool is_libc;
    bool has_used;
    uint64_t used; /* bytes of allocated blocks, as the allocator rounds them */
    uint64_t most; /* bytes that may be in memory, its own tables included; 0: not said */
} pp_allocator_report;

void pp_allocator_ask(pp_allocator_report *report);

#endif
