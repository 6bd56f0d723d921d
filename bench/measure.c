/* SPDX-License-Identifier: MIT
 *
 * measure.c: clocks, medians and result lines.
 */
#include "measure.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t bench_now_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t bench_thread_cpu_ns(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t bench_process_cpu_ns(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

static uint64_t timeval_ns(const struct timeval *t)
{
    return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_usec * 1000;
}

uint64_t bench_rusage_ns(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return timeval_ns(&used.ru_utime) + timeval_ns(&used.ru_stime);
}

/* xorshift64* (Vigna 2016). */
uint64_t bench_random(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * UINT64_C(0x2545f4914f6cdd1d);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *values, size_t count)
{
    if (count == 0) {
        return 0;
    }
    qsort(values, count, sizeof *values, compare);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

double bench_middle_mean(double *values, size_t count)
{
    if (count < 4) {
        return bench_median(values, count);
    }
    qsort(values, count, sizeof *values, compare);
    size_t quarter = count / 4;
    double sum = 0;
    for (size_t i = quarter; i < count - quarter; i++) {
        sum += values[i];
    }
    return sum / (double)(count - 2 * quarter);
}

void bench_median_bounds(const double *sorted, size_t count, double *low, double *high)
{
    if (count == 0) {
        *low = *high = 0;
        return;
    }
    /* The normal approximation of Binomial(count, 1/2).
     * Of few values the bounds are the extremes. */
    double n = (double)count;
    double rank = floor((n - 1.96 * sqrt(n)) / 2);
    size_t skip = rank > 0 ? (size_t)rank : 0;
    *low = sorted[skip];
    *high = sorted[count - 1 - skip];
}

void bench_print(const char *name, double value, const char *unit)
{
    printf("%s %.4g %s\n", name, value, unit);
    fflush(stdout);
}

bool bench_quick(void)
{
    const char *mode = getenv("BENCH");
    return mode != NULL && strcmp(mode, "quick") == 0;
}

void bench_fail(const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "%s: ", program_invocation_short_name);
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it does not see the va_start above */
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}
