/* SPDX-License-Identifier: MIT
 *
 * arena.c: maps chunks and cuts them from front to back (drawing in arena.h).
 *
 * The first chunk is small, since most jobs are; each further chunk is twice as large as the one
 * before, up to a limit, so that a large job needs few system calls. New mappings are zero, so no
 * piece needs clearing.
 *
 * Zone: NORMAL, and the fatal-signal writer (mmap and munmap only, no locks).
 * Owns: the mappings of each arena, until pp_arena_release().
 */
#include "base/arena.h"

#include "base/memory.h"

#include <stdint.h>
#include <string.h>

enum {
    ALIGNMENT = 16,
    CHUNK_MIN = 64 * 1024,      /* one fault-around window of the kernel */
    CHUNK_MAX = 4 * 1024 * 1024 /* untouched pages cost only address space, which is limited */
};

struct pp_arena_chunk {
    struct pp_arena_chunk *next;
    size_t capacity; /* of the mapping, with this header */
    size_t used;     /* from the start of the mapping */
    size_t padding;  /* keeps the header a multiple of ALIGNMENT */
};

_Static_assert(sizeof(struct pp_arena_chunk) % ALIGNMENT == 0, "pieces start aligned");

static size_t round_up(size_t size, size_t unit)
{
    return (size + unit - 1) & ~(unit - 1);
}

static struct pp_arena_chunk *map_chunk(size_t capacity)
{
    struct pp_arena_chunk *chunk = pp_memory_map(capacity);
    if (chunk == NULL) {
        return NULL;
    }
    chunk->capacity = capacity;
    chunk->used = sizeof(*chunk);
    return chunk;
}

/* Returns a chunk with room for `size` more bytes. It becomes the newest chunk, unless the newest
 * one has more room left than this one after the piece: then it becomes the second. */
static struct pp_arena_chunk *add_chunk(pp_arena *arena, size_t size)
{
    struct pp_arena_chunk *newest = arena->chunks;
    size_t capacity = CHUNK_MIN;
    if (newest != NULL) {
        capacity = newest->capacity < CHUNK_MAX / 2 ? newest->capacity * 2 : CHUNK_MAX;
    }
    size_t needed = round_up(sizeof(struct pp_arena_chunk) + size, CHUNK_MIN);
    struct pp_arena_chunk *chunk = map_chunk(capacity > needed ? capacity : needed);
    if (chunk == NULL && capacity > needed) {
        chunk = map_chunk(needed);
    }
    if (chunk == NULL) {
        return NULL;
    }

    size_t left = chunk->capacity - chunk->used - size;
    if (newest != NULL && newest->capacity - newest->used > left) {
        chunk->next = newest->next;
        newest->next = chunk;
    } else {
        chunk->next = newest;
        arena->chunks = chunk;
    }
    return chunk;
}

void *pp_arena_alloc(pp_arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2) {
        arena->failed = true;
        return NULL;
    }
    size = round_up(size == 0 ? 1 : size, ALIGNMENT);

    struct pp_arena_chunk *chunk = arena->chunks;
    if (chunk == NULL || chunk->capacity - chunk->used < size) {
        chunk = add_chunk(arena, size);
    }
    if (chunk == NULL) {
        arena->failed = true;
        return NULL;
    }
    void *piece = (char *)chunk + chunk->used;
    chunk->used += size;
    return piece;
}

void *pp_arena_array(pp_arena *arena, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) {
        arena->failed = true;
        return NULL;
    }
    return pp_arena_alloc(arena, total);
}

void *pp_arena_array_filled(pp_arena *arena, size_t count, size_t size)
{
    void *array = pp_arena_array(arena, count, size);
    if (array != NULL) {
        pp_memory_fill(array, count * size);
    }
    return array;
}

char *pp_arena_text(pp_arena *arena, const char *text, size_t length)
{
    if (length == SIZE_MAX) {
        arena->failed = true;
        return NULL;
    }
    char *copy = pp_arena_alloc(arena, length + 1);
    if (copy != NULL && length > 0) {
        memcpy(copy, text, length);
    }
    return copy;
}

void pp_arena_each(const pp_arena *arena,
                   void (*visit)(uintptr_t start, size_t bytes, void *context), void *context)
{
    for (const struct pp_arena_chunk *c = arena->chunks; c != NULL; c = c->next) {
        visit((uintptr_t)c, c->capacity, context);
    }
}

/* Unlinks each chunk before unmapping it: a fork in between may copy the arena, and its child may
 * release it again. */
void pp_arena_release(pp_arena *arena)
{
    struct pp_arena_chunk *chunk = arena->chunks;
    while (chunk != NULL) {
        struct pp_arena_chunk *next = chunk->next;
        __atomic_store_n(&arena->chunks, next, __ATOMIC_RELAXED);
        pp_memory_unmap(chunk, chunk->capacity);
        chunk = next;
    }
    arena->failed = false;
}

/* A piece is zeros when it is given out. */
void pp_arena_empty(pp_arena *arena)
{
    struct pp_arena_chunk *chunk = arena->chunks;
    if (chunk == NULL || chunk->next != NULL || chunk->capacity > CHUNK_MIN) {
        pp_arena_release(arena);
        return;
    }
    memset(chunk + 1, 0, chunk->used - sizeof *chunk);
    chunk->used = sizeof *chunk;
    arena->failed = false;
}
