/* SPDX-License-Identifier: MIT
 *
 * allocator.h: statistics of the C library's allocator.
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

#endif
