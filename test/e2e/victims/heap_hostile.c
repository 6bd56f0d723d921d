/* SPDX-License-Identifier: MIT
 *
 * heap_hostile.c: allocates where it is hardest for whoever stands in between.
 *
 * usage: heap_hostile early          before main: what a constructor allocates
 *        heap_hostile threads N      threads that free each other's blocks, and end meanwhile
 *        heap_hostile fork N         forks while other threads allocate; children allocate, too
 *        heap_hostile signals        a handler that allocates, at any moment outside of malloc
 *        heap_hostile load LIBRARY   a library that is loaded with RTLD_DEEPBIND, and unloaded
 *        heap_hostile rates          the rate changes while threads allocate
 *        heap_hostile churn          100 million blocks, one after the other; prints the growth of
 *                                    the resident set in kilobytes
 *
 * exits with 0 if all went well, and prints what has to be in the profile.
 *
 * Flags: -fno-builtin
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef RTLD_DEEPBIND /* musl has none */
#define RTLD_DEEPBIND 0
#endif

static void *volatile sink;

/* ---- early ---- */

__attribute__((constructor(101))) void in_constructor(void)
{
    for (int i = 0; i < 100; i++) {
        sink = malloc(300);
    }
}

/* ---- threads ---- */

enum { SLOTS = 1024, THREADS = 8 };

static void *slots[SLOTS];

/* Puts a block where another thread takes it from. */
static void *exchange(void *rounds)
{
    uint64_t random = (uintptr_t)&rounds;
    for (long i = 0; i < (long)rounds; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        size_t size = random >> 55;
        char *block = random >> 63 ? malloc(size) : realloc(malloc(3), size + 1);
        memset(block, 1, size);
        free(__atomic_exchange_n(&slots[random >> 20 & (SLOTS - 1)], block, __ATOMIC_ACQ_REL));
    }
    return NULL;
}

static void *leave_early(void *rounds)
{
    exchange((void *)((long)rounds / 100));
    pthread_exit(NULL);
}

void threads(long rounds)
{
    for (int round = 0; round < 10; round++) {
        pthread_t ids[THREADS];
        for (int i = 0; i < THREADS; i++) {
            pthread_create(&ids[i], NULL, i % 2 ? exchange : leave_early, (void *)(rounds / 10));
        }
        for (int i = 0; i < THREADS; i++) {
            pthread_join(ids[i], NULL);
        }
    }
    for (int i = 0; i < SLOTS; i++) {
        free(slots[i]);
    }
}

/* ---- fork ---- */

static bool stop;

static void *allocate_until_stopped(void *unused)
{
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        exchange((void *)100);
    }
    return unused;
}

void allocates_in_child(void)
{
    for (int i = 0; i < 1000; i++) {
        free(realloc(malloc(100), 200));
        sink = malloc(50);
    }
}

static int forks(int count)
{
    pthread_t ids[3];
    int bad = 0;
    for (int i = 0; i < 3; i++) {
        pthread_create(&ids[i], NULL, allocate_until_stopped, NULL);
    }
    for (int i = 0; i < count; i++) {
        pid_t child = fork();
        if (child == 0) {
            allocates_in_child();
            if (i % 2) {
                _exit(7);
            }
            exit(7);
        }
        int status = 0;
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        bad += status != 7 << 8;
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; i++) {
        pthread_join(ids[i], NULL);
    }
    return bad;
}

/* ---- signals ---- */

static volatile sig_atomic_t signals_seen;

/* The C library's malloc must not be interrupted by itself, so the signals come when it is not. */
void in_handler(int signal)
{
    (void)signal;
    for (int i = 0; i < 100; i++) {
        free(malloc(40));
    }
    signals_seen++;
}

static int with_signals(void)
{
    struct sigaction action = {.sa_handler = in_handler};
    stack_t other = {.ss_sp = malloc(65536), .ss_size = 65536};
    sigaltstack(&other, NULL);
    for (int i = 0; i < 200; i++) {
        action.sa_flags = i % 2 ? SA_ONSTACK : 0;
        sigaction(SIGUSR1, &action, NULL);
        raise(SIGUSR1);
        free(malloc(10));
    }
    return signals_seen == 200 ? 0 : 1;
}

/* ---- libraries ---- */

/* Its calls of malloc go to the C library's own, its blocks come back to us. */
static int load(const char *name)
{
    typedef char *copy_function(const char *);
    typedef void free_function(void *);
    for (int i = 0; i < 50; i++) {
        void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
        if (library == NULL) {
            printf("%s\n", dlerror());
            return 1;
        }
        copy_function *copy = (copy_function *)dlsym(library, "strdup");
        free_function *release = (free_function *)dlsym(library, "free");
        if (copy == NULL || release == NULL) {
            return 1;
        }
        for (int k = 0; k < 100; k++) {
            free(copy("allocated past the hooks"));
            release(malloc(60)); /* freed past the hooks */
        }
        if (dlsym(library, "no such symbol") != NULL || dlerror() == NULL) {
            return 1;
        }
        dlclose(library);
    }
    return 0;
}

/* ---- rates ---- */

static int rates(void)
{
    int64_t (*set_rate)(int64_t) =
        (int64_t(*)(int64_t))dlsym(RTLD_DEFAULT, "pprof_set_mem_profile_rate");
    pthread_t ids[3];
    if (set_rate == NULL) {
        return 1;
    }
    for (int i = 0; i < 3; i++) {
        pthread_create(&ids[i], NULL, allocate_until_stopped, NULL);
    }
    static const int64_t values[] = {0, 1, 100, 10000, 524288, INT64_MAX};
    for (int i = 0; i < 3000; i++) {
        set_rate(values[i % 6]);
        exchange((void *)50);
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; i++) {
        pthread_join(ids[i], NULL);
    }
    for (int i = 0; i < SLOTS; i++) {
        free(slots[i]);
    }
    return 0;
}

/* ---- churn ---- */

static long resident_kilobytes(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%*d %ld", &pages) != 1) {
        return -1;
    }
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void churn(long blocks)
{
    static void *live[1000];
    long before = 0;
    for (long i = 0; i < blocks; i++) {
        void **slot = &live[i % 1000];
        free(*slot);
        *slot = malloc(64);
        if (i == blocks / 10) {
            before = resident_kilobytes();
        }
    }
    printf("%ld\n", resident_kilobytes() - before);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "early") == 0) {
        return 0;
    }
    if (strcmp(what, "threads") == 0) {
        threads(atol(argv[2]));
        return 0;
    }
    if (strcmp(what, "fork") == 0) {
        return forks(atoi(argv[2]));
    }
    if (strcmp(what, "signals") == 0) {
        return with_signals();
    }
    if (strcmp(what, "load") == 0) {
        return load(argv[2]);
    }
    if (strcmp(what, "rates") == 0) {
        return rates();
    }
    if (strcmp(what, "churn") == 0) {
        churn(atol(argv[2]));
        return 0;
    }
    return 2;
}
