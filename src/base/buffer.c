/* SPDX-License-Identifier: MIT
 *
 * buffer.c: one mapping that doubles its size (contract in buffer.h).
 *
 * Zone: NORMAL, and the fatal-signal writer (mmap, mremap and munmap only, no locks).
 * Owns: the mapping of each buffer.
 */
#include "base/buffer.h"

#include "base/memory.h"

#include <string.h>

enum { CAPACITY_MIN = 64 * 1024 /* a small profile, uncompressed */ };

static bool grow(pp_buffer *buffer, size_t needed)
{
    size_t capacity = buffer->capacity == 0 ? CAPACITY_MIN : buffer->capacity;
    while (capacity < needed) {
        if (capacity > SIZE_MAX / 4) {
            return false;
        }
        capacity *= 2;
    }
    void *memory;
    if (buffer->data == NULL) {
        memory = pp_memory_map(capacity);
    } else {
        memory = pp_memory_resize(buffer->data, buffer->capacity, capacity);
    }
    if (memory == NULL) {
        return false;
    }
    buffer->data = memory;
    buffer->capacity = capacity;
    return true;
}

uint8_t *pp_buffer_reserve(pp_buffer *buffer, size_t size)
{
    if (buffer->failed) {
        return NULL;
    }
    if (buffer->data == NULL || buffer->capacity - buffer->size < size) {
        size_t needed;
        if (__builtin_add_overflow(buffer->size, size, &needed) || !grow(buffer, needed)) {
            buffer->failed = true;
            return NULL;
        }
    }
    return buffer->data + buffer->size;
}

void pp_buffer_append(pp_buffer *buffer, const void *data, size_t size)
{
    if (size == 0) {
        return;
    }
    uint8_t *room = pp_buffer_reserve(buffer, size);
    if (room == NULL) {
        return;
    }
    memcpy(room, data, size);
    buffer->size += size;
}

void pp_buffer_release(pp_buffer *buffer)
{
    if (buffer->data != NULL) {
        pp_memory_unmap(buffer->data, buffer->capacity);
    }
    *buffer = (pp_buffer)PP_BUFFER_INIT;
}
