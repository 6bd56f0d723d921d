/* SPDX-License-Identifier: MIT
 *
 * burn.h: CPU time by the measure: what victims spend, and what they say they have spent.
 *
 * Victims print "NAME MILLISECONDS" lines, so that a test compares the profile with the kernel's
 * own account and not with what the program was meant to do.
 */
#ifndef BURN_H
#define BURN_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

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

/* How much of the calling thread's CPU time is still to be used. */
struct burn {
    double start; /* its CPU clock then */
    double ms;
    double ask; /* when the CPU clock is read next, by the monotonic clock */
};

static inline struct burn burn_for(double ms)
{
    return (struct burn){.start = clock_ms(CLOCK_THREAD_CPUTIME_ID), .ms = ms, .ask = 0};
}

static inline double burn_used(const struct burn *b)
{
    return clock_ms(CLOCK_THREAD_CPUTIME_ID) - b->start;
}

/* Whether there is still something to use: the condition of a loop whose body works a little.
 *
 * The CPU clock is read only when as much time has passed as is left, since less than that cannot
 * have been used up before. Reading it lets the kernel see that the thread's slice is over, and if
 * others want the processor they get it then: a thread that reads its CPU clock all the time gives
 * the processor away just before each tick, and neither its timers nor its statistics see it run.
 */
static inline bool burn_on(struct burn *b)
{
    double now = clock_ms(CLOCK_MONOTONIC);
    if (now < b->ask) {
        return true;
    }
    double left = b->ms - burn_used(b);
    b->ask = now + left;
    return left > 0;
}

/* For expect_work of lib.sh. A thread's CPU clock goes ahead of the monotonic one where the kernel learns late that a
 * hypervisor had taken the processor away: some 40 ms at once were seen. */
__attribute__((noinline, cold, unused)) static void burn_note_excess(double ms)
{
    const char *folder = getenv("PPROF_TMPDIR");
    char path[4096] = "";
    if (folder != NULL) {
        snprintf(path, sizeof path, "%s/burn.excess", folder);
    }
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (file >= 0) {
        dprintf(file, "%.1f\n", ms);
        close(file);
    }
}

/* Behind a loop of burn_on: returns what was really used, and notes what expect_work cannot know otherwise. */
static inline double burn_end(const struct burn *b)
{
    enum { MUCH = 5 };
    double used = burn_used(b);
    if (used > b->ms + MUCH) {
        burn_note_excess(used - b->ms);
    }
    return used;
}

/* Uses `ms` of the calling thread's CPU time and returns what it really was. */
static inline double burn_ms(double ms)
{
    struct burn b = burn_for(ms);
    while (burn_on(&b)) {
        work_a_little();
    }
    return burn_end(&b);
}

static inline double process_total_ms(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-3;
}

/* Before that no profile runs, and the loader may take longer than what is measured. */
static double loading_ms;

__attribute__((constructor(101), section(".text.startup"))) static void note_loading(void)
{
    loading_ms = process_total_ms();
}

/* User and system time of the whole process since its first constructor. */
static inline double process_ms(void)
{
    return process_total_ms() - loading_ms;
}

static inline void report(const char *name, double ms)
{
    printf("%s %.1f\n", name, ms);
}

#endif
