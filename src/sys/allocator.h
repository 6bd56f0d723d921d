/* SPDX-License-Identifier: MIT
 *
 * allocator.h: what the C library's allocator says of itself.
 *
 * Zone: NORMAL.
 * Locks: none here; the allocator takes its own.
 */
#ifndef PP_SYS_ALLOCATOR_H
#define PP_SYS_ALLOCATOR_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pp_allocator_use {
    uint64_t mapped; /* bytes that it has from the kernel, large blocks included */
    uint64_t used;   /* bytes of blocks that it has given out, its own headers included */
} pp_allocator_use;

/* False if the program has another allocator, or libc does not tell. */
bool pp_allocator_read(pp_allocator_use *use);

#endif
