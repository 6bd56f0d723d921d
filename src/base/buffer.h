/* SPDX-License-Identifier: MIT
 *
 * buffer.h: a byte buffer that grows, and whose errors need only one check at the end.
 *
 * An encoder appends thousands of small pieces; a check after each would hide what it does. So the
 * error is sticky: after a failure the buffer ignores all input, and its owner checks `failed`
 * once. The memory is a separate mapping. The kernel moves it when it must grow, so growing copies
 * nothing and leaves no garbage.
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

/* Returns room for `size` bytes at the end, or NULL (and `failed`). The caller writes there and
 * then adds to buffer->size. The pointer is valid until the next call on this buffer. */
uint8_t *pp_buffer_reserve(pp_buffer *buffer, size_t size);

void pp_buffer_append(pp_buffer *buffer, const void *data, size_t size);

/* Unmaps the memory; the buffer is then like a new one. */
void pp_buffer_release(pp_buffer *buffer);

#endif
