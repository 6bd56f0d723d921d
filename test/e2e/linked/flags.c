/* SPDX-License-Identifier: MIT
 *
 * flags.c [FLAG...] [ARGUMENT...]: prints what pprof_parse_flags() returns and leaves of the
 * arguments, each in brackets; then does something for every profile to show.
 *
 * Libc: 2.34
 */
#include "../victims/burn.h"
#include <pprof.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <time.h>

enum { BLOCKS = 1000, ROUNDS = 20, MS = 1000000, BURN_MS = 300 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int rounds;
static void *volatile kept[BLOCKS];

static void *waits(void *unused)
{
    atomic_fetch_add(&rounds, 1);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

void holds(void)
{
    pthread_t thread;
    int before = atomic_load(&rounds);
    pthread_mutex_lock(&mutex);
    pthread_create(&thread, NULL, waits, NULL);
    while (atomic_load(&rounds) == before)
        sched_yield();
    nanosleep(&(struct timespec){.tv_nsec = MS}, NULL);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
}

void allocates(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        kept[i] = malloc(500);
        free(kept[i]);
        kept[i] = malloc(1000);
    }
}

void burns(void)
{
    burn_ms(BURN_MS);
}

static const char *name_of(int error)
{
    return error == EINVAL ? "EINVAL" : error == EBUSY ? "EBUSY" : "another error";
}

int main(int argc, char **argv)
{
    int error = pprof_parse_flags(&argc, argv);
    printf("%s", error == 0 ? "0" : name_of(-error));
    for (int i = 1; i < argc; i++)
        printf(" [%s]", argv[i]);
    printf(argv[argc] == NULL ? "\n" : " and no end\n");
    fflush(stdout);
    allocates();
    for (int i = 0; i < ROUNDS; i++)
        holds();
    burns();
    return 0;
}
