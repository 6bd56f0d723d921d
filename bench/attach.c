/* SPDX-License-Identifier: MIT
 *
 * attach.c: what malloc and locks cost in a process before an attachment, while heap, block and mutex
 * are recorded in it, and after it. One process: each round attaches again (docs/ATTACH.md). It has a
 * second thread from the beginning: libc locks without atomic instructions where there is only one.
 *
 * usage: attach LIBRARY ROUNDS      LIBRARY: the path of libpprof-attach.so
 *
 * prints: WORKLOAD_WHEN NANOSECONDS, for each round, WORKLOAD malloc or mutex, WHEN before, on or after.
 */
#include "measure.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { BATCHES = 200, PAIRS = 2000, READY = 2, FAILED = 3, DETACHED = 5, BYTES = 100 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *volatile block;

static void malloc_pairs(void)
{
    for (unsigned i = 0; i < PAIRS; i++) {
        block = malloc(BYTES);
        free(block);
    }
}

static void mutex_pairs(void)
{
    for (unsigned i = 0; i < PAIRS; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
}

static void measure(const char *name, const char *when, void (*pairs)(void))
{
    static double times[BATCHES];
    for (unsigned i = 0; i < BATCHES; i++) {
        uint64_t start = bench_now_ns();
        pairs();
        times[i] = (double)(bench_now_ns() - start) / PAIRS;
    }
    printf("%s_%s %.3f\n", name, when, bench_middle_mean(times, BATCHES));
}

static void measure_all(const char *when)
{
    measure("malloc", when, malloc_pairs);
    measure("mutex", when, mutex_pairs);
}

/* ---- the library ---- */

typedef struct status { /* the first members of pprof_attach_status (include/pprof_attach.h) */
    uint32_t version, state;
} status;

static void pause_for_ms(long ms)
{
    const struct timespec pause = {.tv_nsec = ms * 1000000};
    nanosleep(&pause, NULL);
}

static void wait_for(const status *s, uint32_t state)
{
    uint32_t now = 0;
    while ((now = __atomic_load_n(&s->state, __ATOMIC_ACQUIRE)) != state) {
        if (now == FAILED) {
            fputs("attach: it failed\n", stderr);
            exit(1);
        }
        pause_for_ms(1);
    }
}

typedef int configure_function(const char *options);

static void attach_and_detach(configure_function *configure, const status *s)
{
    configure("attach");
    wait_for(s, READY);
    configure("heap,block:1,mutex:1");
    pause_for_ms(300); /* the attachment's thread looks every 50 ms */
    measure_all("on");
    configure("detach");
    wait_for(s, DETACHED);
}

static void *sleep_for_ever(void *unused)
{
    pause();
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc != 3) {
        fputs("usage: attach LIBRARY ROUNDS\n", stderr);
        return 2;
    }
    if (pthread_create(&thread, NULL, sleep_for_ever, NULL) != 0) {
        return 1;
    }
    measure_all("before");
    void *library = dlopen(argv[1], RTLD_NOW);
    const status *s = library != NULL ? dlsym(library, "pprof_attach_state") : NULL;
    if (s == NULL) {
        fprintf(stderr, "attach: %s\n", dlerror());
        exit(1);
    }
    configure_function *configure = (configure_function *)dlsym(library, "pprof_configure");
    wait_for(s, READY);
    for (long round = strtol(argv[2], NULL, 10); round > 0; round--) {
        attach_and_detach(configure, s);
        measure_all("after");
    }
    return 0;
}
