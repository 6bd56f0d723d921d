/* SPDX-License-Identifier: MIT
 *
 * beside.c CASE: cases that Go has, too (e2e/go/beside.go). Both print the same.
 */
#include <pprof.h>

#include "must.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <time.h>

static const void *value_of(uintptr_t number)
{
    return (const void *)number; /* NOLINT(performance-no-int-to-ptr): values are any word */
}

/* ---- count ---- */

static pprof_profile *profile;
static bool over;

static void *replace(void *unused)
{
    enum { REPLACEMENTS = 200000 };
    for (uintptr_t i = 1; i <= REPLACEMENTS; i++) {
        check(pprof_profile_add(profile, value_of(i), 0) == 0, "add");
        check(pprof_profile_remove(profile, value_of(i - 1)) == 0, "remove");
    }
    __atomic_store_n(&over, true, __ATOMIC_RELEASE);
    return unused;
}

/* A profile in which the next value comes before the one before it goes. */
static void count(void)
{
    pthread_t thread;
    long outside = 0;
    profile = pprof_new_profile("example.count");
    check(pprof_profile_add(profile, value_of(0), 0) == 0, "add");
    check(pthread_create(&thread, NULL, replace, NULL) == 0, "pthread_create");
    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
        size_t n = pprof_profile_count(profile);
        outside += n < 1 || n > 2;
    }
    pthread_join(thread, NULL);
    printf("counts that are neither 1 nor 2: %ld\n", outside);
    printf("at the end: %zu\n", pprof_profile_count(profile));
}

/* ---- rates ---- */

/* Nobody posts. Returns how many waits have been recorded by now. */
static long long wait_a_moment(void)
{
    pprof_block_record records[100];
    sem_t never;
    struct timespec end;
    size_t n = 0;
    long long count = 0;
    check(sem_init(&never, 0, 0) == 0 && clock_gettime(CLOCK_REALTIME, &end) == 0, "sem_init");
    end.tv_nsec += 1000000;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    check(sem_timedwait(&never, &end) != 0 && errno == ETIMEDOUT, "sem_timedwait");
    check(pprof_block_profile(records, 100, &n), "pprof_block_profile");
    for (size_t i = 0; i < n; i++) {
        count += records[i].count;
    }
    return count;
}

static void print_rate(const char *what, int64_t rate)
{
    printf("%s: %lld\n", what, (long long)rate);
}

/* A wait while all are recorded, one while none is. */
static void rates(void)
{
    pprof_set_block_profile_rate(PPROF_RATE_ALL);
    print_rate("recorded at rate 1", wait_a_moment());
    /* What Go lacks: to read it. */
    check(pprof_set_block_profile_rate(PPROF_RATE_READ) == PPROF_RATE_ALL, "the rate is read");
    check(pprof_set_block_profile_rate(-7) == PPROF_RATE_ALL, "the rate is read");
    check(pprof_set_block_profile_rate(PPROF_RATE_OFF) == PPROF_RATE_ALL, "it was left as it was");
    print_rate("recorded in all, when off", wait_a_moment());
    check(pprof_set_block_profile_rate(0) == PPROF_RATE_OFF, "it was off");
    print_rate("recorded in all, at rate 0", wait_a_moment());
    print_rate("fraction before 3", pprof_set_mutex_profile_fraction(3));
    print_rate("fraction read", pprof_set_mutex_profile_fraction(PPROF_RATE_READ));
    print_rate("fraction read again", pprof_set_mutex_profile_fraction(-5));
    print_rate("fraction before it is off", pprof_set_mutex_profile_fraction(PPROF_RATE_OFF));
    print_rate("fraction when off", pprof_set_mutex_profile_fraction(PPROF_RATE_READ));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"count", count}, {"rates", rates}};
    for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(cases[i].name, argv[1]) == 0) {
            cases[i].run();
            return 0;
        }
    }
    return 2;
}
