/* SPDX-License-Identifier: MIT
 *
 * memory.h: memory for one translation, which is freed at once.
 */
#ifndef PUSH_MEMORY_H
#define PUSH_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include <protobuf-c/protobuf-c.h>

typedef struct push_memory {
    struct push_chunk *chunks; /* the newest first */
    bool failed;
    ProtobufCAllocator allocator; /* for protobuf-c: the same memory */
} push_memory;

void push_memory_init(push_memory *memory);
void push_memory_release(push_memory *memory);

/* Zeroed memory; NULL and `failed` if there is none. */
void *push_memory_array(push_memory *memory, size_t count, size_t size);

#endif
