/* SPDX-License-Identifier: MIT
 *
 * clock.h: the kernel's clocks, in nanoseconds.
 *
 * Not libc's clock_gettime: that is replaced by sanitizers, whose own is not ready when the first
 * allocation asks for the time, and by libraries that tell programs another time (libfaketime).
 *
 * Zone: SIGNAL (the vDSO, or one system call). Leaves errno alone.
 */
#ifndef PP_SYS_CLOCK_H
#define PP_SYS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum { PP_NS_PER_S = 1000000000 };

/* 0 or -errno, as the vDSO's functions answer. */
typedef int pp_clock_function(clockid_t clock, struct timespec *now);

/* What reads clocks at present: the vDSO's function, which is looked for at the first call, or the
 * system call. */
extern pp_clock_function *pp_clock_reader;

/*
 * From now on clocks are read by system calls alone. The vDSO reads the processor's counter of
 * cycles, and a thread may be forbidden that: prctl(PR_SET_TSC, PR_TSC_SIGSEGV). This holds for all
 * threads, since new ones inherit it.
 */
void pp_clock_avoid_counter(void);

/* Does that if the counter is forbidden to the calling thread. One system call. */
void pp_clock_ask_for_counter(void);

/* False, and *ns as it was, if there is no such clock: that of a thread that has ended. */
static inline bool pp_clock_read(clockid_t clock, uint64_t *ns)
{
    struct timespec now;
    if (__atomic_load_n(&pp_clock_reader, __ATOMIC_RELAXED)(clock, &now) != 0) {
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
