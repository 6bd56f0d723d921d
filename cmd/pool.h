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
 * Owns: its blocks, until pp_pool_release().
 */
#ifndef CPPROF_POOL_H
#define CPPROF_POOL_H

#include <stddef.h>

struct pp_pool_block;

struct pp_pool {
    struct pp_pool_block *blocks; /* the newest first */
    char *next;                   /* first free byte of the newest block */
    size_t free_bytes;            /* from there to its end */
};

void pp_pool_init(struct pp_pool *pool);
void pp_pool_release(struct pp_pool *pool);

/* `count` * `size` zeroed bytes, aligned for any type; a product that overflows is "no memory". */
void *pp_pool_alloc(struct pp_pool *pool, size_t count, size_t size);

/* A NUL-terminated copy of `length` bytes. */
char *pp_pool_copy(struct pp_pool *pool, const char *data, size_t length);

/* What printf would write, as a string. */
char *pp_pool_printf(struct pp_pool *pool, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define PP_POOL_ARRAY(pool, type, count) ((type *)pp_pool_alloc((pool), (count), sizeof(type)))

/* malloc, calloc and realloc for what is not in a pool: the same promise, and free() gives back. */
void *pp_heap_alloc(size_t count, size_t size);
void *pp_heap_resize(void *old, size_t count, size_t size);

#endif
