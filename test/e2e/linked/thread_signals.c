/* SPDX-License-Identifier: MIT
 *
 * thread_signals.c [FILE]: profiles of threads that compute, in a program that uses SIGPROF itself:
 * a thread that blocks it never finds one of ours, the program's handler is never called but for
 * the program's own. At the same time a CPU profile runs, if there is a FILE to write it to;
 * printed is then how many ms its threads computed meanwhile.
 */
#include "must.h"
#include <pprof.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 3, PROFILES = 30, SPAN_MS = 400, MS_NS = 1000000, SECOND_MS = 1000 };

static pthread_t threads[THREADS];
static unsigned begun, handled, found;
static long computed_ns; /* by threads that are over */
static bool stop;

static void handler(int signal)
{
    (void)signal;
    __atomic_add_fetch(&handled, 1, __ATOMIC_SEQ_CST);
}

static long cpu_ns(clockid_t clock)
{
    struct timespec t;
    check(clock_gettime(clock, &t) == 0, "clock_gettime");
    return t.tv_sec * SECOND_MS * MS_NS + t.tv_nsec;
}

static void computes(void)
{
    __atomic_add_fetch(&begun, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&stop, __ATOMIC_SEQ_CST)) {
    }
    __atomic_add_fetch(&computed_ns, cpu_ns(CLOCK_THREAD_CPUTIME_ID), __ATOMIC_SEQ_CST);
}

static void *open_main(void *unused)
{
    computes();
    return unused;
}

/* Computes with all signals blocked, then looks whether one has come. */
static void *deaf_main(void *unused)
{
    const struct timespec now = {0};
    sigset_t all;
    sigset_t pending;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    computes();
    sigpending(&pending);
    if (sigismember(&pending, SIGPROF) == 1 || sigtimedwait(&all, NULL, &now) >= 0) {
        __atomic_add_fetch(&found, 1, __ATOMIC_SEQ_CST);
    }
    return unused;
}

/* For as long as the threads need to compute for a while, and a number of profiles. */
static void take_profiles(void)
{
    static pprof_thread_record records[THREADS + 1];
    long until = cpu_ns(CLOCK_PROCESS_CPUTIME_ID) + (long)SPAN_MS * MS_NS;
    for (unsigned i = 0; i < PROFILES || cpu_ns(CLOCK_PROCESS_CPUTIME_ID) < until; i++) {
        size_t n = 0;
        check(pprof_thread_profile(records, THREADS + 1, &n) && n == THREADS + 1, "all threads");
        pprof_thread_records_release(records, n);
    }
}

int main(int argc, char **argv)
{
    void *(*const routines[THREADS])(void *) = {open_main, open_main, deaf_main};
    const char *file = argc > 1 ? argv[1] : NULL;
    FILE *out = file != NULL ? fopen(file, "w") : NULL;
    check(signal(SIGPROF, handler) != SIG_ERR, "signal");
    pprof_cpu_options options = {.size = sizeof options, .hz = SECOND_MS};
    check(file == NULL ||
              (out != NULL && pprof_start_cpu_profile_opts(pprof_writer_stdio(out), &options) == 0),
          "start of a CPU profile");
    long before = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    for (unsigned i = 0; i < THREADS; i++) {
        check(pthread_create(&threads[i], NULL, routines[i], NULL) == 0, "pthread_create");
    }
    while (__atomic_load_n(&begun, __ATOMIC_SEQ_CST) < THREADS) {
        usleep(SECOND_MS);
    }
    take_profiles();
    check(__atomic_load_n(&handled, __ATOMIC_SEQ_CST) == 0, "the handler was called");
    pthread_kill(threads[0], SIGPROF);
    while (__atomic_load_n(&handled, __ATOMIC_SEQ_CST) == 0) {
        usleep(SECOND_MS);
    }
    __atomic_store_n(&stop, true, __ATOMIC_SEQ_CST);
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    check(__atomic_load_n(&handled, __ATOMIC_SEQ_CST) == 1, "the handler was called once");
    check(file != NULL || found == 0, "a signal of ours was there for the program");
    printf("%ld\n", (cpu_ns(CLOCK_THREAD_CPUTIME_ID) - before + computed_ns) / MS_NS);
    if (file != NULL) {
        pprof_stop_cpu_profile();
        fclose(out);
    }
    return 0;
}
