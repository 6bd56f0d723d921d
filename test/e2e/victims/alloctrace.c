/* SPDX-License-Identifier: MIT
 *
 * alloctrace.c CASE: a program whose allocations are traced.
 *
 *   kinds    each function of the allocator once, in a function of its own
 *   signals  a handler allocates while the program does
 *   forks    children allocate, born while threads do
 *   threads  several at once, blocks freed by others
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 300, CHILDREN = 150, SIGNALS = 50 };

void *volatile block;

/* ---- kinds ---- */

void traced_malloc(void)
{
    block = malloc(100);
    free(block);
}

void traced_calloc(void)
{
    block = calloc(3, 7);
    free(block);
}

void traced_realloc(void)
{
    block = malloc(10);
    block = realloc(block, 5000);
    free(block);
}

void traced_failure(void)
{
    block = malloc(40);
    void *none = realloc(block, (size_t)-1 / 2 - 100);
    free(none != NULL ? none : block);
}

void traced_aligned(void)
{
    void *aligned = NULL;
    if (posix_memalign(&aligned, 64, 300) == 0) {
        free(aligned);
    }
}

void traced_strdup(void)
{
    block = strdup("hello");
    free(block);
}

void traced_nothing(void)
{
    free(NULL);
}

static void kinds(void)
{
    traced_malloc();
    traced_calloc();
    traced_realloc();
    traced_failure();
    traced_aligned();
    traced_strdup();
    traced_nothing();
}

/* ---- signals ---- */

static volatile sig_atomic_t handled;

/* Not safe by the book, but what programs do; with libc's cache of the thread it works nearly
 * always: so the sizes here are never used by the code that is interrupted. */
static void on_signal(int signal)
{
    (void)signal;
    int saved = handled;
    void *volatile in_handler = calloc(1, 24);
    free(in_handler);
    handled = saved + 1;
}

static void signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 2000}, {0, 2000}};
    block = calloc(1, 24); /* so that the cache has one */
    free(block);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    while (handled < SIGNALS) {
        volatile size_t size = 24;
        block = malloc(size);
        free(block);
    }
    often = (struct itimerval){{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
}

/* ---- threads and forks ---- */

static int stop;
static void *handed_over;

static void *work(void *unused)
{
    for (int i = 0; i < ROUNDS || (stop == 0 && unused != NULL); i++) {
        void *mine = malloc(64);
        void *other = __atomic_exchange_n(&handed_over, mine, __ATOMIC_ACQ_REL);
        free(other);
        if (unused != NULL && __atomic_load_n(&stop, __ATOMIC_RELAXED)) {
            break;
        }
    }
    return unused;
}

static void allocate_in_child(void)
{
    block = malloc(77);
    free(block);
}

/* A handler of the program that runs before the library's could: still in the middle of
 * the fork. */
static void forks(void)
{
    pthread_t threads[THREADS];
    pthread_atfork(NULL, NULL, allocate_in_child);
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, work, &stop);
    }
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = fork();
        if (child == 0) {
            allocate_in_child();
            _exit(0);
        }
        int status = 0;
        if (waitpid(child, &status, 0) != child || status != 0) {
            fprintf(stderr, "child %d: status %#x\n", i, (unsigned)status);
            _exit(1);
        }
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
}

static void threads(void)
{
    pthread_t all[THREADS];
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&all[i], NULL, work, NULL);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(all[i], NULL);
    }
    free(handed_over);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"kinds", kinds}, {"signals", signals}, {"forks", forks}, {"threads", threads}};
    for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(cases[i].name, argv[1]) == 0) {
            cases[i].run();
            return 42;
        }
    }
    return 2;
}
