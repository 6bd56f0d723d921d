/* SPDX-License-Identifier: MIT
 *
 * measure.h: clocks, medians and result lines, shared by the programs of bench/.
 *
 * A result is one line, `name value unit`, on stdout; what follows a third field is commentary. The
 * last part of the name says who was measured ("unwind.changing.56.pprof"), so that bench/run finds
 * the lines that belong beside each other.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Monotonic time. */
uint64_t bench_now_ns(void);

/* CPU time of the calling thread. */
uint64_t bench_thread_cpu_ns(void);

/* CPU time of the process. */
uint64_t bench_process_cpu_ns(void);

/* What getrusage() says that the process has used, user and system together. */
uint64_t bench_rusage_ns(void);

/* The next of a sequence of pseudo-random numbers; any state but 0 will do. */
uint64_t bench_random(uint64_t *state);

/* Sorts `values` and returns the median; 0 if there are none. */
double bench_median(double *values, size_t count);

/*
 * Sorts `values` and returns the mean of the middle half: as deaf to outliers as the median, and
 * finer where the clock is coarse.
 */
double bench_middle_mean(double *values, size_t count);

/*
 * The bounds between which the true median lies with 95 % confidence, whatever the distribution:
 * two order statistics, from the binomial distribution of how many values fall below the median.
 * `sorted` is what bench_median() left behind.
 */
void bench_median_bounds(const double *sorted, size_t count, double *low, double *high);

/* Prints a result. */
void bench_print(const char *name, double value, const char *unit);

/* Whether BENCH=quick asks for less time and more noise. */
bool bench_quick(void);

/* For failures that leave nothing to measure: "PROGRAM: MESSAGE" on stderr, exit status 1. */
__attribute__((noreturn, format(printf, 1, 2))) void bench_fail(const char *format, ...);

#endif
