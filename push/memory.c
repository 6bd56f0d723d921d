/* SPDX-License-Identifier: MIT
 *
 * memory.c: see memory.h.
 *
 * Tested by: unit.cmd_push_formats
 */
#include "push/memory.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 64 << 10, ALIGNMENT = 16 };

typedef struct push_chunk {
    struct push_chunk *next;
    size_t used, size;
    _Alignas(16) unsigned char data[];
} push_chunk;

static void *take(push_memory *memory, size_t size)
{
    push_chunk *chunk = memory->chunks;
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (chunk == NULL || size > chunk->size - chunk->used) {
        size_t room = size > CHUNK / 4 ? size : CHUNK;
        chunk = malloc(sizeof *chunk + room);
        if (chunk == NULL) {
            memory->failed = true;
            return NULL;
        }
        *chunk = (push_chunk){.next = memory->chunks, .size = room};
        memory->chunks = chunk;
    }
    void *place = chunk->data + chunk->used;
    chunk->used += size;
    return place;
}

static void *allocate(void *of_memory, size_t size)
{
    return take(of_memory, size);
}

static void do_nothing(void *of_memory, void *pointer)
{
    (void)of_memory;
    (void)pointer;
}

void push_memory_init(push_memory *memory)
{
    *memory = (push_memory){.allocator = {allocate, do_nothing, memory}};
}

void push_memory_release(push_memory *memory)
{
    while (memory->chunks != NULL) {
        push_chunk *next = memory->chunks->next;
        free(memory->chunks);
        memory->chunks = next;
    }
}

void *push_memory_array(push_memory *memory, size_t count, size_t size)
{
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX / 2) {
        memory->failed = true;
        return NULL;
    }
    void *place = take(memory, bytes > 0 ? bytes : 1);
    return place != NULL ? memset(place, 0, bytes) : NULL;
}
