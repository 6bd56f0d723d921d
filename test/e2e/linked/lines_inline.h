/* SPDX-License-Identifier: MIT
 *
 * lines_inline.h: functions that are inlined into those of lines.c and lines_cxx.cc, from another
 * file than theirs. Inlined they are whatever the compiler is told.
 */
#ifndef LINES_INLINE_H
#define LINES_INLINE_H

#include <pprof.h>

#include <pthread.h>
#include <stdlib.h>

#define INLINED static inline __attribute__((always_inline))

INLINED unsigned inner_burn(unsigned x, unsigned turns)
{
    for (unsigned i = 0; i < turns; i++) {
        x = x * 1664525u + 1013904223u + (x >> 3) * (x | 1);
    }
    return x;
}

INLINED void *inner_allocate(size_t size)
{
    char *block = (char *)malloc(size);
    block[0] = 1;
    return block;
}

INLINED void inner_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    const struct timespec past = {1, 0};
    pthread_cond_timedwait(condition, mutex, &past);
}

INLINED void inner_add(pprof_profile *profile, const void *value)
{
    pprof_profile_add(profile, value, 0);
}

#endif
