/* SPDX-License-Identifier: MIT
 *
 * buffer.h: a byte buffer that grows and never has to be checked until the end.
 *
 * An encoder appends thousands of small pieces; asking after each whether there was memory would
 * hide what it does. The error is sticky instead: after a failure everything is ignored, and the
 * owner looks at `failed` once. The memory is one mapping of its own that the kernel moves when it
 * has to grow, so growing copies nothing and leaves nothing behind.
 *
 *   data -> [size bytes written|room, capacity - size bytes]
 *
 * Zone: NORMAL, and the fatal-signal writer (mmap, mremap and munmap only, no locks).
 * Locks: none; a buffer belongs to one thread at a time.
 * Owns: its mapping, until pp_buffer_release().
 */
#ifndef PP_BASE_BUFFER_H
#define PP_BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_buffer {
    uint8_t *data; /* NULL before the first byte and after a release */
    size_t size;
    size_t capacity;
    bool failed; /* sticky: memory was refused */
} pp_buffer;

#define PP_BUFFER_INIT                                                                             \
    {                                                                                              \
        NULL, 0, 0, false                                                                          \
    }

/* Room for `size` bytes at the end, or NULL (and `failed`). What the caller writes there counts
 * only after it has added to buffer->size. The pointer is good until the next call on this buffer.
 */
uint8_t *pp_buffer_reserve(pp_buffer *buffer, size_t size);

void pp_buffer_append(pp_buffer *buffer, const void *data, size_t size);

/* Gives the mapping back; the buffer is then as good as new. */
void pp_buffer_release(pp_buffer *buffer);

#endif
