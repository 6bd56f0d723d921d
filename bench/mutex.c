/* SPDX-License-Identifier: MIT
 *
 * mutex.c: what the block and mutex profiles cost locks that threads fight for.
 *
 * One process, linked against libpprof.so. "Bare" calls libc's functions by their addresses, as a
 * program without the library would by its GOT; the others call by the name, which leads to the
 * hooks. The two take turns.
 *
 *   mutex, write, semaphore   threads that hold it for some microseconds and do as much work
 *                             without it
 *   mixed                     one that writes, the others read: a rwlock's two sides
 *   condition                 one half puts into a queue, the other takes out of it; each works as
 *                             long
 *
 * Throughput, ratio to bare.
 */
#include "measure.h"

#include <pprof.h>

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

enum {
    CONTENDED_ROUNDS = 31,
    QUICK_CONTENDED_ROUNDS = 7,
    WORK = 2000, /* steps of a generator: some 2 us */
    SLICE_MS = 60,
    QUEUE = 16 /* places */
};

typedef int lock_function(void *);
typedef int wait_function(pthread_cond_t *, pthread_mutex_t *);

typedef struct functions {
    lock_function *lock_mutex, *unlock_mutex, *read, *write, *unlock_rwlock, *take_semaphore;
    wait_function *wait;
} functions;

typedef struct worker worker;

typedef struct subject {
    const char *name;
    void (*turn)(worker *);
} subject;

static functions bare, hooked;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;
static unsigned queued;

static void *real(const char *name)
{
    static void *libc;
    if (libc == NULL && (libc = dlopen("libc.so.6", RTLD_LAZY)) == NULL) {
        bench_fail("there is no libc.so.6: %s", dlerror());
    }
    return dlsym(libc, name);
}

static void find_functions(void)
{
    bare = (functions){
        .lock_mutex = (lock_function *)real("pthread_mutex_lock"),
        .unlock_mutex = (lock_function *)real("pthread_mutex_unlock"),
        .read = (lock_function *)real("pthread_rwlock_rdlock"),
        .write = (lock_function *)real("pthread_rwlock_wrlock"),
        .unlock_rwlock = (lock_function *)real("pthread_rwlock_unlock"),
        .take_semaphore = (lock_function *)real("sem_wait"),
        .wait = (wait_function *)real("pthread_cond_wait"),
    };
    hooked = (functions){
        .lock_mutex = (lock_function *)pthread_mutex_lock,
        .unlock_mutex = (lock_function *)pthread_mutex_unlock,
        .read = (lock_function *)pthread_rwlock_rdlock,
        .write = (lock_function *)pthread_rwlock_wrlock,
        .unlock_rwlock = (lock_function *)pthread_rwlock_unlock,
        .take_semaphore = (lock_function *)sem_wait,
        .wait = pthread_cond_wait,
    };
    if (bare.lock_mutex == hooked.lock_mutex || bare.wait == hooked.wait) {
        bench_fail("pthread_mutex_lock or pthread_cond_wait is not hooked");
    }
}

static void count(bool on, int64_t fraction)
{
    pprof_set_block_profile_rate(on ? 1 : 0);
    pprof_set_mutex_profile_fraction(on ? fraction : 0);
}

struct worker {
    pthread_t thread;
    void (*turn)(worker *);
    functions f;
    unsigned index;
    uint64_t own, turns;
};

static bool stop;
static uint64_t shared;

static uint64_t work(uint64_t state)
{
    for (unsigned i = 0; i < WORK; i++) {
        state = state * UINT64_C(6364136223846793005) + 1;
    }
    return state;
}

static void turn_mutex(worker *w)
{
    w->f.lock_mutex(&mutex);
    shared = work(shared);
    w->f.unlock_mutex(&mutex);
    w->own = work(w->own);
}

static void turn_write(worker *w)
{
    w->f.write(&rwlock);
    shared = work(shared);
    w->f.unlock_rwlock(&rwlock);
    w->own = work(w->own);
}

static void turn_mixed(worker *w)
{
    if (w->index == 0) {
        turn_write(w);
        return;
    }
    w->f.read(&rwlock);
    w->own += work(shared);
    w->f.unlock_rwlock(&rwlock);
    w->own = work(w->own);
}

static void turn_semaphore(worker *w)
{
    w->f.take_semaphore(&semaphore);
    shared = work(shared);
    sem_post(&semaphore);
    w->own = work(w->own);
}

static void turn_condition(worker *w)
{
    bool puts = w->index % 2 == 0;
    w->own = work(w->own);
    w->f.lock_mutex(&mutex);
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED) && queued == (puts ? QUEUE : 0)) {
        w->f.wait(puts ? &not_full : &not_empty, &mutex);
    }
    if (puts && queued < QUEUE) {
        queued++;
        pthread_cond_signal(&not_empty);
    } else if (!puts && queued > 0) {
        queued--;
        pthread_cond_signal(&not_full);
    }
    w->f.unlock_mutex(&mutex);
}

static void *contend(void *context)
{
    worker *w = context;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        w->turn(w);
        w->turns++;
    }
    return NULL;
}

static void stop_all(void)
{
    bare.lock_mutex(&mutex);
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&not_empty);
    pthread_cond_broadcast(&not_full);
    bare.unlock_mutex(&mutex);
}

/* Turns a millisecond. */
static double throughput(const functions *f, const subject *s, unsigned threads)
{
    static worker workers[8];
    uint64_t turns = 0;
    const struct timespec slice = {.tv_nsec = SLICE_MS * 1000000L};
    stop = false;
    uint64_t start_ns = bench_now_ns();
    for (unsigned i = 0; i < threads; i++) {
        workers[i] = (worker){.turn = s->turn, .f = *f, .index = i};
        pthread_create(&workers[i].thread, NULL, contend, &workers[i]);
    }
    nanosleep(&slice, NULL);
    stop_all();
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
        double turns[2] = {0}; /* bare, counted */
        for (unsigned k = 0; k < 2; k++) {
            bool counted = (k + i) % 2 == 0;
            count(counted, fraction);
            turns[counted] = throughput(counted ? &hooked : &bare, s, threads);
        }
        ratio[i] = turns[1] / turns[0];
    }
    count(false, 1);
    snprintf(name, sizeof name, "mutex.%s_contended_%u_threads_%ld.pprof", s->name, threads,
             (long)fraction);
    bench_print(name, bench_median(ratio, rounds), "x");
}

int main(void)
{
    const subject subjects[] = {
        {"mutex", turn_mutex},         {"write", turn_write},         {"mixed", turn_mixed},
        {"semaphore", turn_semaphore}, {"condition", turn_condition},
    };
    find_functions();
    sem_init(&semaphore, 0, 1);
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        for (unsigned threads = 2; threads <= 8; threads += 6) {
            measure_contended(&subjects[i], threads, 100);
            measure_contended(&subjects[i], threads, 1);
        }
    }
    return 0;
}
