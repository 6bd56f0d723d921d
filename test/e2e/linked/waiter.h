/* SPDX-License-Identifier: MIT
 *
 * waiter.h: a thread that waits where a test looks for it.
 */
#ifndef WAITER_H
#define WAITER_H

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t begun; /* one for each thread that is where it should be */

static inline void waits_in_poll(void)
{
    sem_post(&begun);
    poll(NULL, 0, -1);
}

static inline void *waiter(void *name)
{
    pthread_setname_np(pthread_self(), name);
    waits_in_poll();
    return NULL;
}

#endif
