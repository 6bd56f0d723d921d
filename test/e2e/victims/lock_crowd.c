/* SPDX-License-Identifier: MIT
 *
 * lock_crowd: threads that want each other's locks all the time, in an order in which they cannot wait
 * for each other for ever. Prints "ready" when all have begun, and goes on until it is killed.
 *
 * Each takes two or three of a few locks, the lower first: mutexes of all kinds, with and without a
 * time-out, and a rwlock; some wait for a condition, some create a thread and wait for its end while
 * they hold a lock.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#ifdef __GLIBC__
#define ADAPTIVE PTHREAD_MUTEX_ADAPTIVE_NP
#else
#define ADAPTIVE PTHREAD_MUTEX_NORMAL
#endif

enum { THREADS = 8, LOCKS = 5 };

static pthread_mutex_t locks[LOCKS];
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t turns = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static unsigned long turn;
static unsigned begun;

static void work(unsigned amount)
{
    for (volatile unsigned i = 0; i < amount; i++)
        ;
}

static void take(unsigned i, unsigned random)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 3600;
    if (random % 4 == 0)
        pthread_mutex_timedlock(&locks[i], &end);
    else
        pthread_mutex_lock(&locks[i]);
}

static void *end_after_work(void *unused)
{
    pthread_mutex_lock(&locks[LOCKS - 1]);
    work(100);
    pthread_mutex_unlock(&locks[LOCKS - 1]);
    return unused;
}

static void take_turn(void)
{
    pthread_mutex_lock(&turns);
    unsigned long seen = turn++;
    pthread_cond_broadcast(&turned);
    while (turn == seen + 1 && seen % 3 == 0) {
        struct timespec end;
        clock_gettime(CLOCK_REALTIME, &end);
        end.tv_nsec += 1000000;
        end.tv_sec += end.tv_nsec / 1000000000;
        end.tv_nsec %= 1000000000;
        if (pthread_cond_timedwait(&turned, &turns, &end) != 0)
            break;
    }
    pthread_mutex_unlock(&turns);
}

static void use_table(unsigned random)
{
    if (random % 4 == 0)
        pthread_rwlock_wrlock(&table);
    else
        pthread_rwlock_rdlock(&table);
    work(200);
    pthread_rwlock_unlock(&table);
}

/* Locks are taken in the order of their numbers; the table and the turn come after them all. */
static void *crowd(void *argument)
{
    unsigned random = (unsigned)(size_t)argument * 77 + 1;
    __atomic_add_fetch(&begun, 1, __ATOMIC_SEQ_CST);
    for (;;) {
        random = random * 1103515245 + 12345;
        unsigned bits = random >> 16;
        unsigned low = bits % (LOCKS - 1);
        unsigned high = low + 1 + bits / 8 % (LOCKS - 1 - low);
        pthread_t other;
        take(low, bits / 64);
        work(bits % 500);
        take(high, bits / 128);
        work(bits % 300);
        if (bits % 5 == 0)
            use_table(bits / 32);
        if (bits % 7 == 0)
            take_turn();
        pthread_mutex_unlock(&locks[high]);
        if (high < LOCKS - 1 && bits % 11 == 0 &&
            pthread_create(&other, NULL, end_after_work, NULL) == 0)
            pthread_join(other, NULL);
        pthread_mutex_unlock(&locks[low]);
    }
    return NULL;
}

int main(void)
{
    static const int types[LOCKS] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
                                     PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_NORMAL, ADAPTIVE};
    pthread_t thread;
    for (unsigned i = 0; i < LOCKS; i++) {
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_settype(&attributes, types[i]);
        pthread_mutexattr_setrobust(&attributes,
                                    i == 3 ? PTHREAD_MUTEX_ROBUST : PTHREAD_MUTEX_STALLED);
        if (pthread_mutex_init(&locks[i], &attributes) != 0)
            return 1;
    }
    for (size_t i = 0; i < THREADS; i++)
        if (pthread_create(&thread, NULL, crowd, (void *)i) != 0)
            return 1;
    while (__atomic_load_n(&begun, __ATOMIC_SEQ_CST) < THREADS)
        usleep(1000);
    puts("ready");
    fflush(stdout);
    for (;;)
        pause();
}
