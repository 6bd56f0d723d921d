/* SPDX-License-Identifier: MIT
 *
 * clock.h: the kernel's clocks, in nanoseconds.
 *
 * The library does not call libc's clock_gettime. Sanitizers replace it, and theirs is not ready
 * when the first allocation reads the time. Libraries that show programs another time (libfaketime)
 * replace it, too.
 *
 * Zone: SIGNAL (the vDSO, or one system call). Does not change errno.
 */
#ifndef PP_SYS_CLOCK_H
#define PP_SYS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum { PP_NS_PER_S = 1000000000 };

/* Returns 0 or -errno, as the vDSO's functions do. */
typedef int pp_clock_function(clockid_t clock, struct timespec *now);

/* The function that reads clocks at present: the vDSO's function, which the first call finds, or
 * the system call. */
extern pp_clock_function *pp_clock_reader;

/*
 * From now on only system calls read clocks. The vDSO reads the processor's cycle counter, which
 * prctl(PR_SET_TSC, PR_TSC_SIGSEGV) may forbid to a thread. The change is for all threads, since
 * new threads inherit the ban.
 */
void pp_clock_avoid_counter(void);

/* Calls pp_clock_avoid_counter() if the calling thread may not read the counter. One
 * system call. */
void pp_clock_ask_for_counter(void);

/* False, with *ns unchanged, if the clock does not exist, for example that of an ended thread. */
static inline bool pp_clock_read(clockid_t clock, uint64_t *ns)
{
    struct timespec now;
    if (__atomic_load_n(&pp_clock_reader, __ATOMIC_RELAXED)(clock, &now) != 0) {
        return false;
    }
    *ns = (uint64_t)now.tv_sec * PP_NS_PER_S + (uint64_t)now.tv_nsec;
    return true;
}

/* For clocks that always exist: the system's clocks, and those of the calling thread. */
static inline uint64_t pp_clock_ns(clockid_t clock)
{
    uint64_t ns = 0;
    pp_clock_read(clock, &ns);
    return ns;
}

#endif
