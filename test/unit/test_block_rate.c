/* SPDX-License-Identifier: MIT
 *
 * test_block_rate.c: what the rate of the block profile makes of waits: all of them at rate 1, a
 * part of the short ones above that, which then stand for all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pprof.h"

#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

enum { WAITS = 20000 };

typedef struct sums {
    int64_t count, cycles;
} sums;

static sums all_records(void)
{
    sums s = {0};
    size_t n = 0;
    pprof_block_profile(NULL, 0, &n);
    pprof_block_record *records = calloc(n + 1, sizeof *records);
    assert_non_null(records);
    assert_true(pprof_block_profile(records, n, &n));
    for (size_t i = 0; i < n; i++) {
        s.count += records[i].count;
        s.cycles += records[i].cycles;
    }
    free(records);
    return s;
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Waits for something that does not come, for no time: a microsecond each, or less. What they add
 * to the profile; *elapsed_ns is how long all of it took. */
static sums wait_at_rate(int64_t rate, int64_t *elapsed_ns)
{
    static const struct timespec long_ago = {.tv_sec = 1};
    sem_t never;
    sem_init(&never, 0, 0);
    sums before = all_records();
    pprof_set_block_profile_rate(rate);
    int64_t begin = now_ns();
    for (int i = 0; i < WAITS; i++) {
        assert_int_equal(sem_timedwait(&never, &long_ago), -1);
        assert_int_equal(errno, ETIMEDOUT);
    }
    *elapsed_ns = now_ns() - begin;
    pprof_set_block_profile_rate(0);
    sums after = all_records();
    sem_destroy(&never);
    return (sums){after.count - before.count, after.cycles - before.cycles};
}

static void every_wait_counts_at_rate_one(void **state)
{
    (void)state;
    int64_t elapsed_ns = 0;
    sums s = wait_at_rate(1, &elapsed_ns);
    assert_int_equal(s.count, WAITS);
    assert_in_range(s.cycles, WAITS, elapsed_ns); /* none is shorter than a nanosecond */
}

/* Recorded are some hundreds to thousands: a standard error is a few percent. */
static void short_waits_stand_for_as_many_as_there_were(void **state)
{
    (void)state;
    int64_t elapsed_ns = 0;
    sums s = wait_at_rate(20000, &elapsed_ns);
    assert_in_range(s.count, WAITS * 6 / 10, WAITS * 14 / 10);
    assert_in_range(s.cycles, 1, elapsed_ns * 14 / 10);
}

static void at_rate_0_there_are_none(void **state)
{
    (void)state;
    int64_t elapsed_ns = 0;
    sums s = wait_at_rate(0, &elapsed_ns);
    assert_int_equal(s.count, 0);
    assert_int_equal(s.cycles, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_wait_counts_at_rate_one),
        cmocka_unit_test(short_waits_stand_for_as_many_as_there_were),
        cmocka_unit_test(at_rate_0_there_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
