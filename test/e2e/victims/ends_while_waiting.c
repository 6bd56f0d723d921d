/* SPDX-License-Identifier: MIT
 *
 * ends_while_waiting.c: ends while a thread waits for a condition in wait_for_ever().
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static bool waits;

void *wait_for_ever(void *unused)
{
    pthread_mutex_lock(&mutex);
    waits = true;
    pthread_cond_signal(&ready);
    for (;;) {
        pthread_cond_wait(&condition, &mutex);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, wait_for_ever, NULL) != 0) {
        return 1;
    }
    pthread_mutex_lock(&mutex);
    while (!waits) {
        pthread_cond_wait(&ready, &mutex);
    }
    exit(42); /* with the mutex, so that nobody wakes */
}
