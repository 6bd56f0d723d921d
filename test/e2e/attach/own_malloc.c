/* SPDX-License-Identifier: MIT
 *
 * own_malloc.c: an allocator with the usual names, for plugin.c: it gives out parts of one array, and does not take them
 * back.
 */
#include <stddef.h>

static char memory[64 << 20] __attribute__((aligned(16)));
static size_t used;

void *malloc(size_t size);
void *malloc(size_t size)
{
    size_t at = __atomic_fetch_add(&used, (size + 15) & ~(size_t)15, __ATOMIC_RELAXED);
    return at + size <= sizeof memory ? memory + at : NULL;
}

void free(void *block);
void free(void *block)
{
    (void)block;
}
