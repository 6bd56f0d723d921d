/* SPDX-License-Identifier: MIT
 *
 * pool.c: see pool.h.
 *
 * Owns: the blocks of each pool.
 * Tested by: unit.cmd_decode.
 */
#include "base/pool.h"

#include "base/message.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Large enough that malloc costs nothing, small enough that a tiny profile needs little memory. */
#define BLOCK_BYTES ((size_t)256 * 1024)
#define ALIGNMENT   _Alignof(max_align_t)

/* Blocks are cleared a little before they are used: a small profile uses only a part of one. */
#define CLEAR_BYTES ((size_t)4096)

enum { FIRST_ROOM = 64 /* of an array that grows */ };

typedef struct cp_pool_block {
    cp_pool_block *older;
    _Alignas(max_align_t) char data[];
} cp_pool_block;

void cp_out_of_memory(void)
{
    fputs("cpprof: out of memory; end other programs, or choose a smaller profile\n", stderr);
    exit(CP_EXIT_BAD_INPUT);
}

void *cp_heap_alloc(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size ? size : 1);
    if (!memory) {
        cp_out_of_memory();
    }
    return memory;
}

void *cp_heap_resize(void *old, size_t count, size_t size)
{
    void *memory = reallocarray(old, count ? count : 1, size ? size : 1);
    if (!memory) {
        cp_out_of_memory();
    }
    return memory;
}

void *cp_heap_grow(void *array, size_t count, size_t *room, size_t size)
{
    if (count < *room) {
        return array;
    }
    *room = *room ? 2 * *room : FIRST_ROOM;
    return cp_heap_resize(array, *room, size);
}

char *cp_heap_copy(const char *data, size_t length)
{
    char *copy = cp_heap_alloc(length + 1, 1);

    memcpy(copy, data, length);
    return copy;
}

char *cp_heap_printf(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text;
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0) {
        cp_out_of_memory();
    }
    return text;
}

void cp_pool_init(cp_pool *pool)
{
    memset(pool, 0, sizeof *pool);
}

void cp_pool_release(cp_pool *pool)
{
    cp_pool_block *block = pool->blocks;

    while (block) {
        cp_pool_block *older = block->older;
        free(block);
        block = older;
    }
    cp_pool_init(pool);
}

/* A block for one large piece goes after the newest block, whose free space stays in use. */
static char *new_large_block(cp_pool *pool, size_t bytes)
{
    cp_pool_block *block;
    cp_pool_block **before = pool->blocks ? &pool->blocks->older : &pool->blocks;

    if (bytes > SIZE_MAX - sizeof *block) {
        cp_out_of_memory();
    }
    block = cp_heap_alloc(1, sizeof *block + bytes);
    block->older = *before;
    *before = block;
    return block->data;
}

static void start_block(cp_pool *pool)
{
    cp_pool_block *block = cp_heap_resize(NULL, 1, sizeof *block + BLOCK_BYTES);

    block->older = pool->blocks;
    pool->blocks = block;
    pool->next = block->data;
    pool->free_bytes = BLOCK_BYTES;
    pool->clear_bytes = 0;
}

/* Clears the next bytes of the newest block. */
static void clear(cp_pool *pool, size_t bytes)
{
    size_t step = bytes > CLEAR_BYTES ? bytes : CLEAR_BYTES;

    if (step > pool->free_bytes) {
        step = pool->free_bytes;
    }
    memset(pool->next + pool->clear_bytes, 0, step - pool->clear_bytes);
    pool->clear_bytes = step;
}

static void *take_bytes(cp_pool *pool, size_t bytes)
{
    if (bytes > BLOCK_BYTES / 4) {
        return new_large_block(pool, bytes);
    }
    if (bytes > pool->free_bytes || pool->next == NULL) { /* also no bytes have an address */
        start_block(pool);
    }
    if (bytes > pool->clear_bytes) {
        clear(pool, bytes);
    }
    char *piece = pool->next;
    pool->next += bytes;
    pool->free_bytes -= bytes;
    pool->clear_bytes -= bytes;
    return piece;
}

/* The bytes of an array, rounded up. */
static size_t round_up(size_t count, size_t size, size_t alignment)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - 2 * ALIGNMENT) {
        cp_out_of_memory();
    }
    return (bytes + alignment - 1) / alignment * alignment;
}

void *cp_pool_alloc(cp_pool *pool, size_t count, size_t size)
{
    /* One byte more than needed: each piece has an address of its own. */
    size_t bytes = round_up(round_up(count, size, 1) + 1, 1, ALIGNMENT);
    size_t gap = pool->free_bytes % ALIGNMENT; /* after words */

    if (gap) {
        take_bytes(pool, gap);
    }
    return take_bytes(pool, bytes);
}

void *cp_pool_words(cp_pool *pool, size_t count, size_t size)
{
    return take_bytes(pool, round_up(count, size, sizeof(int64_t)));
}

void *cp_pool_grow(cp_pool *pool, void *array, size_t count, size_t *room, size_t size)
{
    if (count < *room) {
        return array;
    }
    *room = *room ? 2 * *room : FIRST_ROOM;
    void *larger = cp_pool_alloc(pool, *room, size);
    if (count) {
        memcpy(larger, array, count * size);
    }
    return larger;
}

char *cp_pool_copy(cp_pool *pool, const char *data, size_t length)
{
    char *copy = cp_pool_alloc(pool, length + 1, 1);

    if (length) {
        memcpy(copy, data, length);
    }
    return copy;
}

char *cp_pool_printf(cp_pool *pool, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0) {
        cp_out_of_memory();
    }
    char *text = cp_pool_alloc(pool, (size_t)length + 1, 1);
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}
