/* SPDX-License-Identifier: MIT
 *
 * clock.h: the kernel's clocks, in nanoseconds.
 *
 * Zone: SIGNAL (clock_gettime: the vDSO, or one system call). May change errno.
 * Locks: none.
 * Owns: nothing.
 */
#ifndef PP_SYS_CLOCK_H
#define PP_SYS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum { PP_NS_PER_S = 1000000000 };

/* False, and *ns as it was, if there is no such clock: that of a thread that has ended. */
static inline bool pp_clock_read(clockid_t clock, uint64_t *ns)
{
    struct timespec now;
    if (clock_gettime(clock, &now) != 0) {
        return false;
    }
    *ns = (uint64_t)now.tv_sec * PP_NS_PER_S + (uint64_t)now.tv_nsec;
    return true;
}

/* For clocks that are always there: the system's, and those of the calling thread. */
static inline uint64_t pp_clock_ns(clockid_t clock)
{
    uint64_t ns = 0;
    pp_clock_read(clock, &ns);
    return ns;
}

#endif
