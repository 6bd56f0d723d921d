/* SPDX-License-Identifier: MIT
 *
 * contention.c: scripted waits. Each part says on a line what it has measured itself around its
 * calls: the function that made others wait, or that waited, and nanoseconds. The same as
 * go/contention.go.
 *
 *   contention [MILLISECONDS]
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WAITERS = 3 };

static struct timespec hold = {.tv_nsec = 100000000};
static unsigned arrived;
static uint64_t waited_ns;

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void until_arrived(unsigned count)
{
    while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) != count)
        sched_yield();
}

static uint64_t arrive(void)
{
    uint64_t start_ns = now_ns();
    __atomic_add_fetch(&arrived, 1, __ATOMIC_RELEASE);
    return start_ns;
}

static void went_on(uint64_t start_ns)
{
    __atomic_add_fetch(&waited_ns, now_ns() - start_ns, __ATOMIC_RELAXED);
}

static void report(const char *function)
{
    printf("%s %lu\n", function,
           (unsigned long)__atomic_exchange_n(&waited_ns, 0, __ATOMIC_RELAXED));
    arrived = 0;
}

static void run(pthread_t *threads, unsigned count, void *(*function)(void *))
{
    for (unsigned i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, function, NULL);
}

static void join(const pthread_t *threads, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

/* ---- one holder, several that wait ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *waits_for_mutex(void *unused)
{
    uint64_t start_ns = arrive();
    pthread_mutex_lock(&mutex);
    went_on(start_ns);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void holds_mutex(void)
{
    pthread_t threads[WAITERS];
    pthread_mutex_lock(&mutex);
    run(threads, WAITERS, waits_for_mutex);
    until_arrived(WAITERS);
    nanosleep(&hold, NULL);
    pthread_mutex_unlock(&mutex);
    join(threads, WAITERS);
}

/* ---- one lock within the other ---- */

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
static uint64_t outer_waited_ns;

static void *holds_outer(void *unused)
{
    pthread_mutex_lock(&outer);
    uint64_t start_ns = arrive();
    pthread_mutex_lock(&inner);
    went_on(start_ns);
    pthread_mutex_unlock(&inner);
    nanosleep(&hold, NULL);
    pthread_mutex_unlock(&outer);
    return unused;
}

static void *wants_outer(void *unused)
{
    uint64_t start_ns = arrive();
    pthread_mutex_lock(&outer);
    outer_waited_ns = now_ns() - start_ns;
    pthread_mutex_unlock(&outer);
    return unused;
}

static void holds_inner(void)
{
    pthread_t threads[2];
    pthread_mutex_lock(&inner);
    run(threads, 1, holds_outer);
    until_arrived(1);
    run(threads + 1, 1, wants_outer);
    until_arrived(2);
    nanosleep(&hold, NULL);
    pthread_mutex_unlock(&inner);
    join(threads, 2);
}

/* ---- readers and writers ---- */

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void *reads(void *unused)
{
    uint64_t start_ns = arrive();
    pthread_rwlock_rdlock(&rwlock);
    went_on(start_ns);
    pthread_rwlock_unlock(&rwlock);
    return unused;
}

static void *writes(void *unused)
{
    uint64_t start_ns = arrive();
    pthread_rwlock_wrlock(&rwlock);
    went_on(start_ns);
    pthread_rwlock_unlock(&rwlock);
    return unused;
}

static void holds_as_writer(void)
{
    pthread_t threads[WAITERS];
    pthread_rwlock_wrlock(&rwlock);
    run(threads, WAITERS, reads);
    until_arrived(WAITERS);
    nanosleep(&hold, NULL);
    pthread_rwlock_unlock(&rwlock);
    join(threads, WAITERS);
}

static void holds_as_reader(void)
{
    pthread_t thread;
    pthread_rwlock_rdlock(&rwlock);
    run(&thread, 1, writes);
    until_arrived(1);
    nanosleep(&hold, NULL);
    pthread_rwlock_unlock(&rwlock);
    join(&thread, 1);
}

/* ---- a queue ---- */

static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static unsigned queued;

static void *takes_from_queue(void *unused)
{
    pthread_mutex_lock(&mutex);
    uint64_t start_ns = arrive();
    while (queued == 0)
        pthread_cond_wait(&condition, &mutex);
    queued--;
    went_on(start_ns);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void fills_queue(void)
{
    pthread_t threads[WAITERS];
    run(threads, WAITERS, takes_from_queue);
    until_arrived(WAITERS);
    nanosleep(&hold, NULL);
    pthread_mutex_lock(&mutex);
    queued = WAITERS;
    pthread_mutex_unlock(&mutex);
    pthread_cond_broadcast(&condition);
    join(threads, WAITERS);
}

/* ---- never ---- */

static pthread_mutex_t locked_for_ever = PTHREAD_MUTEX_INITIALIZER;

static void *deadlocks(void *unused)
{
    arrive();
    pthread_mutex_lock(&locked_for_ever);
    return unused;
}

static void *volatile kept;

static void keeps_block(void)
{
    kept = malloc(1000);
}

int main(int argc, char **argv)
{
    keeps_block();
    if (argc > 1) {
        long milliseconds = strtol(argv[1], NULL, 10);
        hold.tv_sec = milliseconds / 1000;
        hold.tv_nsec = milliseconds % 1000 * 1000000;
    }
    holds_mutex();
    report("holds_mutex");
    holds_inner();
    report("holds_inner");
    waited_ns = outer_waited_ns;
    report("holds_outer");
    holds_as_writer();
    report("holds_as_writer");
    holds_as_reader();
    report("holds_as_reader");
    fills_queue();
    report("takes_from_queue");
    pthread_t thread;
    pthread_mutex_lock(&locked_for_ever);
    run(&thread, 1, deadlocks);
    until_arrived(1);
    nanosleep(&hold, NULL);
    return 0;
}
