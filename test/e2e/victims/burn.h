/* SPDX-License-Identifier: MIT
 *
 * burn.h: CPU time by the measure: what victims spend, and what they say they have spent.
 *
 * Victims print "NAME MILLISECONDS" lines, so that a test compares the profile with the kernel's
 * own account and not with what the program was meant to do.
 */
#ifndef BURN_H
#define BURN_H

#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

static volatile unsigned long burn_sink;

static inline double clock_ms(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* Arithmetic, no calls. */
static inline void work_a_little(void)
{
    for (unsigned long i = 0; i < 20000; i++) {
        burn_sink += i * burn_sink + 1;
    }
}

/* Uses `ms` of the calling thread's CPU time and returns what it really was. */
static inline double burn_ms(double ms)
{
    double start = clock_ms(CLOCK_THREAD_CPUTIME_ID);
    double now = start;
    while (now - start < ms) {
        work_a_little();
        now = clock_ms(CLOCK_THREAD_CPUTIME_ID);
    }
    return now - start;
}

/* User and system time of the whole process. */
static inline double process_ms(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-3;
}

static inline void report(const char *name, double ms)
{
    printf("%s %.1f\n", name, ms);
}

#endif
