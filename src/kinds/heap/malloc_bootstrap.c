/* SPDX-License-Identifier: MIT
 *
 * malloc_bootstrap.c: a few kilobytes for a loader that allocates while a thread asks it where
 * malloc is.
 *
 * The dlsym of an old libc calls calloc; that of a newer libc calls malloc for an error message.
 * free and realloc recognise such a block by its entry in the live table (PP_HEAP_FOREIGN), which
 * costs other calls nothing; malloc_usable_size does by the address. No block is used twice.
 *
 *   [size|block.....][size|block...]      free
 *
 * Zone: HOOK.
 * Owns: the arena (.bss).
 * Tested by: unit.malloc_early
 */
#include "kinds/heap/malloc_bootstrap.h"

#include "base/compiler.h"
#include "host/real.h"
#include "kinds/heap/heap.h"

enum {
    ARENA_BYTES = 16 * 1024, /* glibc 2.17's dlsym allocates 32 bytes in each thread that fails */
    LEAST_ALIGNMENT = 16
};

static struct {
    size_t used; /* bytes of the arena */
    char arena[ARENA_BYTES];
} bootstrap;

/* Returns the index in the arena of the first block that can begin after `used` bytes. */
static size_t next_block(size_t used, size_t unit)
{
    uintptr_t first = (uintptr_t)bootstrap.arena + used + sizeof(size_t);
    return ((first + unit - 1) & ~(unit - 1)) - (uintptr_t)bootstrap.arena;
}

void *pp_malloc_bootstrap(size_t size, size_t alignment)
{
    size_t unit = alignment > LEAST_ALIGNMENT ? alignment : LEAST_ALIGNMENT;
    size_t before = __atomic_load_n(&bootstrap.used, __ATOMIC_RELAXED);
    size_t at = 0;
    do {
        at = next_block(before, unit);
        if (unit > ARENA_BYTES || size > ARENA_BYTES || at + size > ARENA_BYTES) {
            return NULL;
        }
    } while (!__atomic_compare_exchange_n(&bootstrap.used, &before, at + size, false,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    char *block = bootstrap.arena + at;
    *(size_t *)(void *)(block - sizeof(size_t)) = size;
    return pp_heap_remember((uintptr_t)block) ? block : NULL;
}

bool pp_malloc_bootstrap_is_used(void)
{
    return __atomic_load_n(&bootstrap.used, __ATOMIC_RELAXED) != 0;
}

bool pp_malloc_is_bootstrap(uintptr_t address)
{
    return address - (uintptr_t)bootstrap.arena < ARENA_BYTES;
}

void pp_malloc_bootstrap_memory(uintptr_t *from, uintptr_t *to)
{
    *from = (uintptr_t)bootstrap.arena;
    *to = *from + ARENA_BYTES;
}

size_t pp_malloc_bootstrap_size(uintptr_t address)
{
    return *(const size_t *)(address - sizeof(size_t));
}

/* ---- malloc_usable_size ---- */

typedef size_t usable_size_function(void *);

static size_t find_usable_size(void *block);

static usable_size_function *real_usable_size = find_usable_size;

uintptr_t pp_malloc_bootstrap_resolve(void)
{
    usable_size_function *real = __atomic_load_n(&real_usable_size, __ATOMIC_RELAXED);
    if (real == find_usable_size) {
        real = (usable_size_function *)pp_real_find("malloc_usable_size");
        if (real == NULL) {
            return 0;
        }
        __atomic_store_n(&real_usable_size, real, __ATOMIC_RELEASE);
    }
    return (uintptr_t)real;
}

static PP_COLD_PATH size_t find_usable_size(void *block)
{
    usable_size_function *real = (usable_size_function *)pp_malloc_bootstrap_resolve();
    return real != NULL ? real(block) : 0;
}

size_t pp_malloc_usable_size(void *block)
{
    if (pp_unlikely(pp_malloc_is_bootstrap((uintptr_t)block))) {
        return pp_malloc_bootstrap_size((uintptr_t)block);
    }
    return __atomic_load_n(&real_usable_size, __ATOMIC_ACQUIRE)(block);
}

__attribute__((visibility("default"), alias("pp_malloc_usable_size"))) size_t
malloc_usable_size(void *block);
