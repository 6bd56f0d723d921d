/* SPDX-License-Identifier: MIT
 *
 * pool.h: memory that is given back all at once.
 *
 * A profile is many small pieces (stacks, labels, strings) that live exactly as long as the profile
 * does. A pool hands them out from large blocks and frees the blocks together, so that no piece
 * needs an owner of its own. When the machine has no memory left the command says so and exits
 * with status 1; callers never see NULL.
 *
 *   pool -> [block | used ........ free ] -> [block | full] -> [block | full] -> NULL
 *
 * Owns: its blocks, until cp_pool_release().
 */
#ifndef CP_POOL_H
#define CP_POOL_H

#include <stddef.h>

typedef struct cp_pool_block cp_pool_block;

typedef struct cp_pool {
    cp_pool_block *blocks; /* the newest first */
    char *next;            /* first free byte of the newest block */
    size_t free_bytes;     /* from there to its end */
} cp_pool;

void cp_pool_init(cp_pool *pool);
void cp_pool_release(cp_pool *pool);

/* `count` * `size` zeroed bytes, aligned for any type; a product that overflows is "no memory". */
void *cp_pool_alloc(cp_pool *pool, size_t count, size_t size);

/* A NUL-terminated copy of `length` bytes. */
char *cp_pool_copy(cp_pool *pool, const char *data, size_t length);

/* What printf would write, as a string. */
char *cp_pool_printf(cp_pool *pool, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define CP_POOL_ARRAY(pool, type, count) ((type *)cp_pool_alloc((pool), (count), sizeof(type)))

/* malloc, calloc and realloc for what is not in a pool: the same promise, and free() gives back. */
void *cp_heap_alloc(size_t count, size_t size);
void *cp_heap_resize(void *old, size_t count, size_t size);

#endif
