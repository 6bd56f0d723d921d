/* SPDX-License-Identifier: MIT
 *
 * contention_loop.c: threads that take turns with one lock, as fast as they can: who is woken up
 * finds it taken again more often than not. The same as go/contention_loop.go.
 *
 *   contention_loop [TURNS]
 */
#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 4, WORK = 200 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long shared;
static long turns = 100000;

__attribute__((noinline)) static void work(void)
{
    for (int i = 0; i < WORK; i++)
        shared++;
}

static void *takes_turns(void *unused)
{
    for (long i = 0; i < turns; i++) {
        pthread_mutex_lock(&mutex);
        work();
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    if (argc > 1)
        turns = strtol(argv[1], NULL, 10);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, takes_turns, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
