/* SPDX-License-Identifier: MIT
 *
 * profile_of_blocks.c: an allocator that keeps a profile of what it has given out: the profile is
 * used in malloc and free, and uses neither. Exit status 0 if all checks hold; else the line is
 * printed.
 */
#include <pprof.h>

#include "check.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static pprof_profile *blocks; /* NULL: it does not */
static unsigned long blocks_given;
static __thread unsigned long calls_of_malloc;

static char pool[64 << 20];
static size_t pool_used;

/* What is freed is not given out again: that is not the point here. */
static void *allocate(size_t size)
{
    size_t whole = (size + 31) / 16 * 16;
    size_t at = __atomic_fetch_add(&pool_used, whole, __ATOMIC_RELAXED);
    calls_of_malloc++;
    if (at + whole > sizeof pool) {
        return NULL;
    }
    size_t *block = (size_t *)(void *)(pool + at);
    *block = size;
    if (blocks != NULL && pprof_profile_add(blocks, block + 2, 1) == 0) {
        __atomic_fetch_add(&blocks_given, 1, __ATOMIC_RELAXED);
    }
    return block + 2;
}

void *malloc(size_t size)
{
    return allocate(size);
}

void free(void *block)
{
    if (block != NULL && blocks != NULL) {
        failures += pprof_profile_remove(blocks, block) != 0;
    }
}

void *calloc(size_t count, size_t size)
{
    return size != 0 && count > SIZE_MAX / size ? NULL : allocate(count * size);
}

void *realloc(void *block, size_t size)
{
    void *larger = allocate(size);
    if (larger != NULL && block != NULL) {
        size_t before = ((size_t *)block)[-2];
        memcpy(larger, block, before < size ? before : size);
        free(block);
    }
    return larger;
}

static int write_nothing(void *ctx, const void *data, size_t length)
{
    (void)ctx;
    (void)data;
    (void)length;
    return 0;
}

int main(void)
{
    pprof_profile *profile = pprof_new_profile("blocks");
    unsigned long calls = calls_of_malloc;
    for (uintptr_t i = 0; i < 20000; i++) {
        CHECK_IS(pprof_profile_add(profile, (const void *)i, 0), 0);
    }
    for (uintptr_t i = 0; i < 20000; i++) {
        CHECK_IS(pprof_profile_remove(profile, (const void *)i), 0);
    }
    CHECK_IS(calls_of_malloc, calls);

    blocks = profile;
    void *(*volatile give)(size_t) = malloc; /* the compiler leaves out what it knows */
    void *kept[1000];
    for (unsigned i = 0; i < 1000; i++) {
        kept[i] = give(100);
        free(give(200));
    }
    CHECK_IS(blocks_given, 2000);
    CHECK_IS(pprof_profile_count(profile), 1000);
    CHECK_IS(pprof_profile_write(profile, (pprof_writer){write_nothing, NULL}, 0), 0);
    CHECK_IS(pprof_profile_count(profile), 1000);
    for (unsigned i = 0; i < 1000; i++) {
        free(kept[i]);
    }
    CHECK_IS(pprof_profile_count(profile), 0);
    blocks = NULL;
    return failures != 0;
}
