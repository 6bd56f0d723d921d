/* SPDX-License-Identifier: MIT
 *
 * labels.c CASE [FILE]: work under labels, for every kind of profile; one case a run.
 *
 *   cpu FILE ENGINE          prints what each tenant used, in milliseconds
 *   heap FOLDER              blocks with labels and without: heap and allocs.pb.gz, heap.txt
 *   storm FOLDER             a set for each request on ten threads: cpu and heap.pb.gz; prints the
 *                            largest size that the process had, in MiB
 *   contention FOLDER        a holder and waiters, with labels and without: block and mutex.pb.gz,
 *                            .txt
 */
#include "../victims/burn.h"

#include <pprof.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: not true: %s\n", __LINE__, #condition);                      \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static int open_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    return fd;
}

static const char *const tenant_a[] = {"tenant", "a"};
static const char *const tenant_b[] = {"tenant", "b"};
static const char *const phase[] = {"phase", "two words"};

/* ---- cpu ---- */

static double a_ms, b_ms, phase_ms, none_ms;

static void burn_phase(void *ms)
{
    double used = burn_ms(*(const double *)ms);
    phase_ms += used;
    a_ms += used;
}

static void burn_a(void *ms)
{
    a_ms += burn_ms(*(const double *)ms);
    pprof_do(phase, 1, burn_phase, ms);
}

static void burn_b(void *ms)
{
    b_ms += burn_ms(*(const double *)ms);
}

static void *inherit(void *ms)
{
    double start = clock_ms(CLOCK_THREAD_CPUTIME_ID);
    burn_ms(*(const double *)ms);
    a_ms += clock_ms(CLOCK_THREAD_CPUTIME_ID) - start;
    return NULL;
}

static void burn_on_a_thread(void *ms)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, inherit, ms) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

static int cpu(const char *file, const char *engine)
{
    const pprof_cpu_options options = {.size = sizeof options,
                                       .hz = 1000,
                                       .engine = strcmp(engine, "perf") == 0 ? PPROF_ENGINE_PERF
                                                                             : PPROF_ENGINE_TIMER};
    double ms = 150;
    int fd = open_file(file);
    CHECK(pprof_start_cpu_profile_opts(pprof_writer_fd(fd), &options) == 0);
    for (int i = 0; i < 2; i++) {
        pprof_do(tenant_a, 1, burn_a, &ms);
        pprof_do(tenant_b, 1, burn_b, &ms);
        none_ms += burn_ms(ms);
    }
    pprof_do(tenant_a, 1, burn_on_a_thread, &ms);
    CHECK(pprof_stop_cpu_profile() == 0);
    close(fd);
    report("a", a_ms);
    report("b", b_ms);
    report("phase", phase_ms);
    report("none", none_ms);
    return 0;
}

/* ---- block and mutex ---- */

enum { ROUNDS = 5 };

static const char *const as_holder[] = {"role", "holder"};
static const char *const as_waiter[] = {"role", "waiter"};
static const char *const as_stuck[] = {"role", "stuck", "state", "not this"};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t never;
static pid_t waiter_tid;

static void write_profile(const char *folder, const char *name, const char *suffix, int debug)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%s", folder, name, suffix);
    int fd = open_file(path);
    CHECK(pprof_profile_write(pprof_lookup(name), pprof_writer_fd(fd), debug) == 0);
    close(fd);
}

static void until_asleep(const pid_t *tid)
{
    char path[64];
    char state = 'R';
    while (__atomic_load_n(tid, __ATOMIC_ACQUIRE) == 0) {
    }
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)*tid);
    while (state != 'S') {
        FILE *file = fopen(path, "r");
        CHECK(file != NULL && fscanf(file, "%*d (%*[^)]) %c", &state) == 1);
        fclose(file);
    }
}

__attribute__((noinline)) void waits_for_mutex(void *unused)
{
    (void)unused;
    __atomic_store_n(&waiter_tid, gettid(), __ATOMIC_RELEASE);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}

static void *waits_with_labels(void *unused)
{
    pprof_do(as_waiter, 1, waits_for_mutex, NULL);
    return unused;
}

static void *waits_without(void *unused)
{
    pprof_labels_unref(pprof_set_thread_labels(NULL));
    waits_for_mutex(NULL);
    return unused;
}

__attribute__((noinline)) void hold_up(void *(*who)(void *))
{
    pthread_t thread;
    waiter_tid = 0;
    pthread_mutex_lock(&mutex);
    CHECK(pthread_create(&thread, NULL, who, NULL) == 0);
    until_asleep(&waiter_tid);
    pthread_mutex_unlock(&mutex);
    CHECK(pthread_join(thread, NULL) == 0);
}

static void hold_up_all(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        hold_up(waits_with_labels);
        hold_up(waits_without);
    }
}

__attribute__((noinline)) void waits_for_ever(void *unused)
{
    (void)unused;
    __atomic_store_n(&waiter_tid, gettid(), __ATOMIC_RELEASE);
    sem_wait(&never);
}

static void *be_stuck(void *unused)
{
    pprof_do(as_stuck, 2, waits_for_ever, NULL);
    return unused;
}

static int contention(const char *folder)
{
    pthread_t thread;
    CHECK(sem_init(&never, 0, 0) == 0);
    pprof_set_block_profile_rate(1);
    pprof_set_mutex_profile_fraction(1);
    pprof_do(as_holder, 1, hold_up_all, NULL);
    waiter_tid = 0;
    CHECK(pthread_create(&thread, NULL, be_stuck, NULL) == 0);
    until_asleep(&waiter_tid);
    write_profile(folder, "block", "pb.gz", 0);
    write_profile(folder, "block", "txt", 1);
    write_profile(folder, "mutex", "pb.gz", 0);
    write_profile(folder, "mutex", "txt", 1);
    sem_post(&never);
    CHECK(pthread_join(thread, NULL) == 0);
    return 0;
}

/* ---- heap ---- */

enum { BLOCKS = 100, BLOCK_BYTES = 1000 };

static void *kept[3 * BLOCKS];
static size_t kept_count;

/* Keeps half of them; grows some, which may move. */
__attribute__((noinline)) void allocate_blocks(void *unused)
{
    (void)unused;
    for (int i = 0; i < BLOCKS; i++) {
        void *block = malloc(BLOCK_BYTES);
        if (i % 2 == 0) {
            kept[kept_count++] = block;
        } else {
            free(block);
        }
    }
}

/* Blocks that others allocated, while this thread has other labels. */
static void free_blocks(void *unused)
{
    (void)unused;
    for (int i = 0; i < BLOCKS / 4; i++) {
        free(kept[i]); /* the first ones are a's */
    }
}

static int heap(const char *folder)
{
    pprof_set_mem_profile_rate(1);
    pprof_do(tenant_a, 1, allocate_blocks, NULL);
    pprof_do(tenant_b, 1, allocate_blocks, NULL);
    allocate_blocks(NULL);
    pprof_do(tenant_b, 1, free_blocks, NULL);
    pprof_set_mem_profile_rate(0);
    write_profile(folder, "heap", "pb.gz", 0);
    write_profile(folder, "heap", "txt", 1);
    return 0;
}

/* ---- a set for each request ---- */

enum { THREADS = 10, REQUESTS = 30000, KEPT_EVERY = 1000, WORK_EVERY = 5 };

void *kept_requests[THREADS * REQUESTS / KEPT_EVERY];

/* One is kept, now and then. */
__attribute__((noinline)) void serve_request(void *number)
{
    size_t request = *(const size_t *)number;
    void *block = malloc(100);
    if (request % WORK_EVERY == 0) {
        work_a_little();
    }
    if (request % KEPT_EVERY == 0) {
        kept_requests[request / KEPT_EVERY] = block;
    } else {
        free(block);
    }
}

static void *serve_requests(void *first)
{
    for (size_t i = 0; i < REQUESTS; i++) {
        char text[24];
        size_t request = *(const size_t *)first + i;
        snprintf(text, sizeof text, "%zu", request);
        const char *const pairs[] = {"request", text, "again", text};
        pprof_do(pairs, 2, serve_request, &request);
    }
    return NULL;
}

static int storm(const char *folder)
{
    char path[4096];
    pthread_t threads[THREADS];
    size_t firsts[THREADS];
    struct rusage usage;
    const pprof_cpu_options options = {.size = sizeof options, .hz = 1000};
    snprintf(path, sizeof path, "%s/cpu.pb.gz", folder);
    int fd = open_file(path);
    CHECK(pprof_start_cpu_profile_opts(pprof_writer_fd(fd), &options) == 0);
    pprof_set_mem_profile_rate(1);
    for (size_t i = 0; i < THREADS; i++) {
        firsts[i] = i * REQUESTS;
        CHECK(pthread_create(&threads[i], NULL, serve_requests, &firsts[i]) == 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    pprof_set_mem_profile_rate(0);
    getrusage(RUSAGE_SELF, &usage);
    CHECK(pprof_stop_cpu_profile() == 0);
    close(fd);
    write_profile(folder, "heap", "pb.gz", 0);
    report("mebibytes", (double)usage.ru_maxrss / 1024);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "cpu") == 0) {
        return cpu(argv[2], argv[3]);
    }
    if (argc == 3 && strcmp(argv[1], "contention") == 0) {
        return contention(argv[2]);
    }
    if (argc == 3 && strcmp(argv[1], "heap") == 0) {
        return heap(argv[2]);
    }
    if (argc == 3 && strcmp(argv[1], "storm") == 0) {
        return storm(argv[2]);
    }
    return 2;
}
