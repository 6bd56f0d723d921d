/* SPDX-License-Identifier: MIT
 *
 * mutex.c: what the block and mutex profiles cost locks that threads fight for.
 *
 * One process, linked against libpprof.so. "Bare" calls libc's functions by their addresses, as a
 * program without the library would by its GOT; the others call by the name, which leads to the
 * hooks. The two take turns.
 *
 *   contended   threads that hold a lock for some microseconds and do as much work without it;
 *               throughput, ratio to bare
 */
#include "measure.h"

#include <pprof.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum {
    CONTENDED_ROUNDS = 31,
    QUICK_CONTENDED_ROUNDS = 7,
    WORK = 2000, /* steps of a generator: some 2 us */
    SLICE_MS = 60
};

typedef int lock_function(void *);

typedef struct functions {
    lock_function *lock, *unlock;
} functions;

typedef struct subject {
    const char *name;
    void *object;
    functions bare, hooked;
} subject;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static lock_function *real(const char *name)
{
    static void *libc;
    if (libc == NULL && (libc = dlopen("libc.so.6", RTLD_LAZY)) == NULL) {
        bench_fail("there is no libc.so.6: %s", dlerror());
    }
    return (lock_function *)dlsym(libc, name);
}

/* ---- contended ---- */

static void count(bool on, int64_t fraction)
{
    pprof_set_block_profile_rate(on ? 1 : 0);
    pprof_set_mutex_profile_fraction(on ? fraction : 0);
}

typedef struct worker {
    pthread_t thread;
    const functions *functions;
    void *object;
    uint64_t turns;
} worker;

static bool stop;
static uint64_t shared;

static uint64_t work(uint64_t state)
{
    for (unsigned i = 0; i < WORK; i++) {
        state = state * UINT64_C(6364136223846793005) + 1;
    }
    return state;
}

static void *contend(void *context)
{
    worker *w = context;
    uint64_t own = 1;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        w->functions->lock(w->object);
        shared = work(shared);
        w->functions->unlock(w->object);
        own = work(own);
        w->turns++;
    }
    return (void *)(uintptr_t)own;
}

/* Turns a millisecond. */
static double throughput(const functions *f, void *object, unsigned threads)
{
    worker workers[8];
    uint64_t turns = 0;
    const struct timespec slice = {.tv_nsec = SLICE_MS * 1000000L};
    stop = false;
    uint64_t start_ns = bench_now_ns();
    for (unsigned i = 0; i < threads; i++) {
        workers[i] = (worker){.functions = f, .object = object};
        pthread_create(&workers[i].thread, NULL, contend, &workers[i]);
    }
    nanosleep(&slice, NULL);
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
        turns += workers[i].turns;
    }
    return (double)turns * 1e6 / (double)(bench_now_ns() - start_ns);
}

static void measure_contended(const subject *s, unsigned threads, int64_t fraction)
{
    static double ratio[CONTENDED_ROUNDS];
    char name[128];
    unsigned rounds = bench_quick() ? QUICK_CONTENDED_ROUNDS : CONTENDED_ROUNDS;
    for (unsigned i = 0; i < rounds; i++) {
        double bare = 0;
        double hooked = 0;
        for (unsigned turn = 0; turn < 2; turn++) {
            bool counted = (turn + i) % 2 == 0;
            count(counted, fraction);
            double *result = counted ? &hooked : &bare;
            *result = throughput(counted ? &s->hooked : &s->bare, s->object, threads);
        }
        ratio[i] = hooked / bare;
    }
    count(false, 1);
    snprintf(name, sizeof name, "mutex.%s_contended_%u_threads_%ld.pprof", s->name, threads,
             (long)fraction);
    bench_print(name, bench_median(ratio, rounds), "x");
}

int main(void)
{
    const subject subjects[] = {
        {"mutex",
         &mutex,
         {real("pthread_mutex_lock"), real("pthread_mutex_unlock")},
         {(lock_function *)pthread_mutex_lock, (lock_function *)pthread_mutex_unlock}},
        {"read",
         &rwlock,
         {real("pthread_rwlock_rdlock"), real("pthread_rwlock_unlock")},
         {(lock_function *)pthread_rwlock_rdlock, (lock_function *)pthread_rwlock_unlock}},
        {"write",
         &rwlock,
         {real("pthread_rwlock_wrlock"), real("pthread_rwlock_unlock")},
         {(lock_function *)pthread_rwlock_wrlock, (lock_function *)pthread_rwlock_unlock}},
    };
    if (subjects[0].bare.lock == subjects[0].hooked.lock) {
        bench_fail("pthread_mutex_lock is not hooked");
    }
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i += 2) {
        for (unsigned threads = 2; threads <= 8; threads += 6) {
            measure_contended(&subjects[i], threads, 100);
            measure_contended(&subjects[i], threads, 1);
        }
    }
    return 0;
}
