/* SPDX-License-Identifier: MIT
 *
 * lasting.h: memory that is handed out piece by piece, to any thread at any time, and never taken
 * back.
 *
 * Buckets live as long as the process, so there is nothing to free and nothing to lock: a piece is
 * cut from the newest chunk by one addition; a thread that finds the chunk used up maps the next
 * one, and if two do, the second gives its own back.
 *
 *   newest -> [header|used.......|free  ]      older chunks are full and known to nobody
 *
 * Zone: SIGNAL (bare mmap and munmap).
 * Owns: its chunks, for ever.
 */
#ifndef PP_STORE_LASTING_H
#define PP_STORE_LASTING_H

#include <stddef.h>
#include <stdint.h>

typedef struct pp_lasting {
    struct pp_lasting_chunk *newest;
} pp_lasting;

#define PP_LASTING_INIT                                                                            \
    {                                                                                              \
        NULL                                                                                       \
    }

/* Zeroed memory, aligned to 16 bytes; NULL when the kernel refuses. At most 64 KiB. */
void *pp_lasting_alloc(pp_lasting *memory, size_t bytes);

/* `bytes` of zeroed memory straight from the kernel, or NULL. Leaves errno alone. */
void *pp_lasting_map(size_t bytes);
void pp_lasting_unmap(void *memory, size_t bytes);

/* Gives whole pages of that back to the kernel: they stay, and are zero when they are
 * used again. */
void pp_lasting_empty(void *memory, size_t bytes);

#endif
