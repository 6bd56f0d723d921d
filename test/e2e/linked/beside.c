/* SPDX-License-Identifier: MIT
 *
 * beside.c CASE: cases that Go has, too (e2e/go/beside.go). Both print the same.
 */
#include <pprof.h>

#include "must.h"

#include <pthread.h>
#include <stdint.h>

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

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"count", count}};
    for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(cases[i].name, argv[1]) == 0) {
            cases[i].run();
            return 0;
        }
    }
    return 2;
}
