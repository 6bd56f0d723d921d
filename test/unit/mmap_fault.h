/* SPDX-License-Identifier: MIT
 *
 * mmap_fault.h: lets a unit test refuse memory at the n-th mapping, or at each in turn.
 *
 * The test program defines mmap and its like itself, in front of the libc's; the libc's own malloc
 * does not go through them. ThreadSanitizer needs those names for itself: under it, tests that
 * begin with needs_mmap_fault() are skipped. Include it in one file of a program, behind cmocka.h.
 */
#ifndef PP_TEST_MMAP_FAULT_H
#define PP_TEST_MMAP_FAULT_H

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static long mappings_left = LONG_MAX; /* how many more succeed */
static long mappings_live;            /* mapped minus unmapped */

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif

static inline void needs_mmap_fault(void)
{
#ifdef __SANITIZE_THREAD__
    skip();
#endif
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

#ifndef __SANITIZE_THREAD__

static bool mapping_refused(void)
{
    if (mappings_left <= 0) {
        errno = ENOMEM;
        return true;
    }
    mappings_left--;
    return false;
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (mapping_refused())
        return MAP_FAILED;
    mappings_live++;
    return (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
}

int munmap(void *address, size_t size)
{
    mappings_live--;
    return (int)syscall(SYS_munmap, address, size);
}

void *mremap(void *address, size_t size, size_t new_size, int flags, ...)
{
    if (mapping_refused())
        return MAP_FAILED;
    return (void *)syscall(SYS_mremap, address, size, new_size, flags, NULL);
}

#endif

#endif
