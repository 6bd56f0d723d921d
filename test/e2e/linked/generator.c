/* SPDX-License-Identifier: MIT
 *
 * generator.c DIRECTORY: does what golden/go/generator.go.txt does, the program whose profiles are
 * the golden files of Go, and writes the same files there: NAME.pb.gz and NAME.txt of each profile,
 * goroutine.debug2.txt, cpu.pb.gz. Functions that are closures there have names here:
 *
 *   main.func1 worker    main.func1.1 burn_phase    main.func2 waiter    main.func3 add_more
 *
 * Waits are shorter, and a channel is a pipe.
 */
#include "../victims/burn.h"
#include <pprof.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS = 3, WAITERS = 7, MS = 1000000, KEPT_MAX = 200100 };

static const char *directory;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t ready; /* all waiters have their labels */
static int channel[2];
static void *volatile kept[KEPT_MAX];
static int kept_count;

unsigned hog1(long ms)
{
    volatile unsigned x = 0;
    struct burn b = burn_for((double)ms);
    while (burn_on(&b)) {
        for (unsigned i = 0; i < 100000; i++)
            x = x + i * i;
    }
    return x;
}

unsigned hog2(long ms)
{
    volatile unsigned x = 1;
    struct burn b = burn_for((double)ms);
    while (burn_on(&b)) {
        for (unsigned i = 0; i < 100000; i++)
            x = x ^ (i * 3);
    }
    return x;
}

void alloc_small(int n)
{
    for (int i = 0; i < n; i++)
        kept[kept_count++] = malloc(100);
}

void alloc_big(int n)
{
    for (int i = 0; i < n; i++)
        kept[kept_count++] = malloc(1 << 20);
}

void garbage(int n)
{
    for (int i = 0; i < n; i++) {
        free(kept[kept_count]);
        kept[kept_count] = malloc(2000);
    }
    free(kept[kept_count]);
    kept[kept_count] = NULL;
}

static int create(const char *file)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, file);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) {
        fprintf(stderr, "%s: not opened\n", path);
        exit(1);
    }
    return fd;
}

void w(const char *name, int debug, const char *suffix)
{
    char file[256];
    pprof_profile *profile = pprof_lookup(name);
    if (profile == NULL) {
        fprintf(stderr, "there is no profile %s\n", name);
        exit(1);
    }
    snprintf(file, sizeof file, "%s.%s", name, suffix);
    int fd = create(file);
    int error = pprof_profile_write(profile, pprof_writer_fd(fd), debug);
    if (error != 0) {
        fprintf(stderr, "%s: %s\n", file, strerror(-error));
        exit(1);
    }
    close(fd);
}

void burn_phase(void *unused)
{
    static unsigned arrived;
    const struct timespec a_while = {.tv_nsec = 2 * MS};
    (void)unused;
    hog1(30);
    hog2(10);
    /* On a busy machine one worker could be done with the lock before the next one wants it. */
    __atomic_add_fetch(&arrived, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(&arrived, __ATOMIC_RELAXED) < WORKERS)
        nanosleep(&a_while, NULL);
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&mutex);
        nanosleep(&a_while, NULL);
        pthread_mutex_unlock(&mutex);
    }
}

void *worker(void *number)
{
    const char *const labels[] = {"worker", number, "phase", "burn"};
    pprof_do(labels, 2, burn_phase, NULL);
    return NULL;
}

void *waiter(void *unused)
{
    const char *const kind[] = {"kind", "waiter"};
    pprof_labels *labels = pprof_labels_new(NULL, kind, 1);
    char byte;
    pprof_set_thread_labels(labels);
    pprof_labels_unref(labels);
    pthread_barrier_wait(&ready);
    return read(channel[0], &byte, 1) == 1 ? unused : NULL;
}

void add_more(pprof_profile *profile)
{
    for (uintptr_t i = 10; i < 13; i++)
        pprof_profile_add(profile, (const char *)&kept + i, 0);
}

int main(int argc, char **argv)
{
    static char numbers[WORKERS][2] = {"0", "1", "2"};
    static const char *const names[] = {"goroutine", "heap",  "allocs",      "threadcreate",
                                        "block",     "mutex", "example.conn"};
    pthread_t workers[WORKERS];
    pthread_t waiters[WAITERS];
    if (argc != 2 || pipe(channel) != 0)
        return 2;
    directory = argv[1];
    pprof_set_block_profile_rate(1);
    pprof_set_mutex_profile_fraction(1);
    int fd = create("cpu.pb.gz");
    if (pprof_start_cpu_profile(pprof_writer_fd(fd)) != 0)
        return 1;
    for (int i = 0; i < WORKERS; i++) {
        if (pthread_create(&workers[i], NULL, worker, numbers[i]) != 0)
            return 1;
    }
    for (volatile int i = 0; i < WORKERS; i++) /* one place: not unrolled */
        pthread_join(workers[i], NULL);
    if (pprof_stop_cpu_profile() != 0)
        return 1;
    close(fd);

    alloc_small(200000);
    alloc_big(40);
    garbage(200000);
    pprof_set_block_profile_rate(0); /* the barrier is not in the program of Go */
    pthread_barrier_init(&ready, NULL, WAITERS + 1);
    for (volatile int i = 0; i < WAITERS; i++) { /* likewise */
        if (pthread_create(&waiters[i], NULL, waiter, NULL) != 0)
            return 1;
    }
    pthread_barrier_wait(&ready);

    pprof_profile *profile = pprof_new_profile("example.conn");
    for (uintptr_t i = 0; i < 5; i++)
        pprof_profile_add(profile, (const char *)&kept + i, 0);
    add_more(profile);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        w(names[i], 0, "pb.gz");
        w(names[i], 1, "txt");
    }
    w("goroutine", 2, "debug2.txt");
    return 0;
}
