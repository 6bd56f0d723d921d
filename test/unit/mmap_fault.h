/* SPDX-License-Identifier: MIT
 *
 * mmap_fault.h: lets a unit test refuse memory at the n-th mapping, or at each in turn.
 *
 * A program that includes it is linked with --wrap for the functions of base/memory.h
 * (test/CMakeLists.txt). Include it in one file of a program, behind cmocka.h.
 */
#ifndef PP_TEST_MMAP_FAULT_H
#define PP_TEST_MMAP_FAULT_H

#include "base/memory.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>

static long mappings_left = LONG_MAX; /* how many more succeed */
static long mappings_live;            /* mapped minus unmapped */
static void (*when_unmapped)(void);   /* is called after each unmapping; NULL: nothing is */

/* At the beginning of a test. */
static inline void needs_mmap_fault(void)
{
    mappings_left = LONG_MAX;
    mappings_live = 0;
}

/* What needs memory: 0 or -errno. Gives back all that it has mapped, either way. */
typedef int mmap_attempt(void *context);

/* Tries with all memory, then with no mapping, with one, with two, and so on up to one less than it
 * needs: each time it has to say -ENOMEM. Nothing may stay mapped. Returns how many it needs. */
static inline long mappings_needed(mmap_attempt *attempt, void *context)
{
    long before = mappings_live;
    mappings_left = LONG_MAX;
    assert_int_equal(attempt(context), 0);
    assert_int_equal(mappings_live, before);
    long needed = LONG_MAX - mappings_left;
    for (long allowed = 0; allowed < needed; allowed++) {
        mappings_left = allowed;
        int error = attempt(context);
        mappings_left = LONG_MAX;
        assert_int_equal(error, -ENOMEM);
        assert_int_equal(mappings_live, before);
    }
    return needed;
}

void *real_map(size_t bytes) __asm__("__real_pp_memory_map");
void *real_resize(void *memory, size_t bytes, size_t new_bytes) __asm__("__real_pp_memory_resize");
void real_unmap(void *memory, size_t bytes) __asm__("__real_pp_memory_unmap");
void *counted_map(size_t bytes) __asm__("__wrap_pp_memory_map");
void *counted_resize(void *memory, size_t bytes,
                     size_t new_bytes) __asm__("__wrap_pp_memory_resize");
void counted_unmap(void *memory, size_t bytes) __asm__("__wrap_pp_memory_unmap");

static bool mapping_refused(void)
{
    if (__atomic_load_n(&mappings_left, __ATOMIC_RELAXED) <= 0)
        return true;
    __atomic_sub_fetch(&mappings_left, 1, __ATOMIC_RELAXED);
    return false;
}

void *counted_map(size_t bytes)
{
    if (mapping_refused())
        return NULL;
    __atomic_add_fetch(&mappings_live, 1, __ATOMIC_RELAXED);
    return real_map(bytes);
}

void counted_unmap(void *memory, size_t bytes)
{
    __atomic_sub_fetch(&mappings_live, 1, __ATOMIC_RELAXED);
    real_unmap(memory, bytes);
    if (when_unmapped != NULL) {
        when_unmapped();
    }
}

void *counted_resize(void *memory, size_t bytes, size_t new_bytes)
{
    return mapping_refused() ? NULL : real_resize(memory, bytes, new_bytes);
}

#endif
