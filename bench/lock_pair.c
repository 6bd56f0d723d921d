/* SPDX-License-Identifier: MIT
 *
 * lock_pair.c: what taking and releasing costs in this process when nobody else is there, whatever
 * was preloaded. Built twice: as compilers do by default, where a call of another library goes by
 * way of the procedure linkage table, and with -fno-plt, where it does not and a hook's own jump
 * weighs more.
 *
 * usage: lock_pair WORKLOAD...
 *
 *   mutex, read, write, spin     lock and unlock of a mutex, a rwlock's two sides, a spin lock
 *   semaphore                    sem_wait and sem_post
 *
 * prints: WORKLOAD NANOSECONDS, each a middle mean over many short batches.
 */
#include "measure.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

enum { BATCHES = 400, PAIRS = 2000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t semaphore;

static void mutex_pairs(void)
{
    for (unsigned i = 0; i < PAIRS; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
}

static void read_pairs(void)
{
    for (unsigned i = 0; i < PAIRS; i++) {
        pthread_rwlock_rdlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
    }
}

static void write_pairs(void)
{
    for (unsigned i = 0; i < PAIRS; i++) {
        pthread_rwlock_wrlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
    }
}

static void spin_pairs(void)
{
    for (unsigned i = 0; i < PAIRS; i++) {
        pthread_spin_lock(&spin);
        pthread_spin_unlock(&spin);
    }
}

static void semaphore_pairs(void)
{
    for (unsigned i = 0; i < PAIRS; i++) {
        sem_wait(&semaphore);
        sem_post(&semaphore);
    }
}

static const struct {
    const char *name;
    void (*pairs)(void);
} workloads[] = {
    {"mutex", mutex_pairs}, {"read", read_pairs},           {"write", write_pairs},
    {"spin", spin_pairs},   {"semaphore", semaphore_pairs},
};

static double measure(void (*pairs)(void))
{
    static double ns[BATCHES];
    pairs();
    for (unsigned i = 0; i < BATCHES; i++) {
        uint64_t start_ns = bench_now_ns();
        pairs();
        ns[i] = (double)(bench_now_ns() - start_ns) / PAIRS;
    }
    return bench_middle_mean(ns, BATCHES);
}

static double run(const char *name)
{
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
        if (strcmp(workloads[i].name, name) == 0) {
            return measure(workloads[i].pairs);
        }
    }
    bench_fail("no workload '%s'", name);
}

int main(int argc, char **argv)
{
    if (pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE) != 0 || sem_init(&semaphore, 0, 1) != 0) {
        bench_fail("no locks");
    }
    for (int i = 1; i < argc; i++) {
        printf("%s %.3f\n", argv[i], run(argv[i]));
        fflush(stdout);
    }
    return 0;
}
