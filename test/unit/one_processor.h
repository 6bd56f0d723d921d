/* SPDX-License-Identifier: MIT
 *
 * one_processor.h: a thread that takes the processor from the calling one whenever it wants
 * (SCHED_FIFO).
 *
 *   caller:  urgent_begin(f, x) ....... urgent_let() ..................... urgent_end()
 *   urgent:                                         f(x), at once ........ the end
 *
 * Both run on the same processor. If f waits for something that the caller has to do, it must not
 * wait by running. The kernel lets a thread that does run for most of a second, then the others for
 * a moment, so that such a wait is seen in the CPU time of f.
 */
#ifndef PP_TEST_ONE_PROCESSOR_H
#define PP_TEST_ONE_PROCESSOR_H

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <time.h>

typedef struct urgent {
    void (*what)(void *context);
    void *context;
    sem_t may;
    double cpu_ms; /* that `what` has taken */
    pthread_t thread;
    cpu_set_t before;
} urgent;

static inline void *be_urgent(void *context)
{
    urgent *u = context;
    struct timespec used;
    while (sem_wait(&u->may) != 0) {
    }
    u->what(u->context);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    u->cpu_ms = (double)used.tv_sec * 1e3 + (double)used.tv_nsec / 1e6;
    return NULL;
}

static inline bool stay_on_this_processor(urgent *u)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    return sched_getaffinity(0, sizeof u->before, &u->before) == 0 &&
           sched_setaffinity(0, sizeof one, &one) == 0;
}

/* False if the system does not permit that. */
static inline bool urgent_begin(urgent *u, void (*what)(void *), void *context)
{
    const struct sched_param priority = {.sched_priority = 1};
    pthread_attr_t attributes;
    *u = (urgent){.what = what, .context = context};
    sem_init(&u->may, 0, 0);
    pthread_attr_init(&attributes);
    pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
    pthread_attr_setschedparam(&attributes, &priority);
    bool begun =
        stay_on_this_processor(u) && pthread_create(&u->thread, &attributes, be_urgent, u) == 0;
    pthread_attr_destroy(&attributes);
    return begun;
}

static inline void urgent_let(urgent *u)
{
    sem_post(&u->may);
}

static inline void urgent_end(urgent *u)
{
    pthread_join(u->thread, NULL);
    sem_destroy(&u->may);
    sched_setaffinity(0, sizeof u->before, &u->before);
}

#endif
