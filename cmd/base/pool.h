/* SPDX-License-Identifier: MIT
 *
 * pool.h: pools, whose memory is freed all at once.
 *
 * A profile is many small pieces (stacks, labels, strings) that live exactly as long as the profile
 * does. A pool takes them from large blocks and frees the blocks together, so that no piece needs
 * an owner. Without memory the command complains and exits with status 1: no function here returns
 * NULL.
 *
 *   pool -> [block | used ........ free ] -> [block | full] -> [block | full] -> NULL
 *
 * Owns: the blocks of a pool, until cp_pool_release().
 */
#ifndef CP_POOL_H
#define CP_POOL_H

#include <stddef.h>

typedef struct cp_pool_block cp_pool_block;

typedef struct cp_pool {
    cp_pool_block *blocks; /* the newest first */
    char *next;            /* the first free byte of the newest block */
    size_t free_bytes;     /* of the newest block */
    size_t clear_bytes;    /* of these, the first ones that are zero */
} cp_pool;

void cp_pool_init(cp_pool *pool);
void cp_pool_release(cp_pool *pool);

/* Returns count * size zeroed bytes, aligned for any type. A product that overflows counts as a
 * lack of memory. */
void *cp_pool_alloc(cp_pool *pool, size_t count, size_t size);

/* cp_pool_words() does the same for numbers: the bytes are aligned for int64_t, without a gap. */
void *cp_pool_words(cp_pool *pool, size_t count, size_t size);

/* Returns a NUL-terminated copy of `length` bytes. */
char *cp_pool_copy(cp_pool *pool, const char *data, size_t length);

/* Returns the text that printf would write. */
char *cp_pool_printf(cp_pool *pool, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Makes room for one more element in an array of the pool, which has `count` of `size` bytes and room
 * for *room. Returns the array, which may be a new one: the old one stays in the pool. */
void *cp_pool_grow(cp_pool *pool, void *array, size_t count, size_t *room, size_t size);

#define CP_POOL_ARRAY(pool, type, count) ((type *)cp_pool_alloc((pool), (count), sizeof(type)))

/* Complains, and ends the command. */
_Noreturn void cp_out_of_memory(void);

/* Memory outside of pools, to be freed with free(). These functions do not return NULL either. */
void *cp_heap_alloc(size_t count, size_t size);
void *cp_heap_resize(void *old, size_t count, size_t size);
/* cp_heap_grow() makes room as cp_pool_grow() does. */
void *cp_heap_grow(void *array, size_t count, size_t *room, size_t size);
char *cp_heap_copy(const char *data, size_t length);
char *cp_heap_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
