/* SPDX-License-Identifier: MIT
 *
 * leak.c: what a search for leaks costs a program with 1 GiB of memory (BENCH=quick: 256 MiB).
 *
 *   leak RATE     of sampling: 512k or 1
 *
 * The memory is a graph: blocks of 16 to 2000 bytes, each with pointers to others, and numbers. One
 * block in a hundred is lost, so that a search makes all its passes. A thread of the program
 * allocates, frees and touches new pages all the time, and looks at the clock for its longest stop
 * during a search, less the time that it had no processor: that is the other programs' doing.
 */
#include "measure.h"

#include <pprof.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { SEARCHES = 7, LARGEST = 2000 };

static const uint64_t gib = UINT64_C(1) << 30;

typedef struct item {
    struct item *next, *other;
    uint64_t words[];
} item;

static item *all;
static atomic_bool over;
static atomic_uint_fast64_t longest_ns, cpu_ns;

static size_t grow(uint64_t bytes)
{
    uint64_t state = 88172645463325252u;
    size_t count = 0;
    item *some = NULL;
    for (uint64_t made = 0; made < bytes; count++) {
        size_t size = 16 + bench_random(&state) % (LARGEST - 16);
        item *i = malloc(size);
        size_t words = (size - sizeof *i) / sizeof(uint64_t);
        i->next = all;
        i->other = some;
        for (size_t k = 0; k < words; k++) {
            i->words[k] = k % 3 == 0 ? (uint64_t)(uintptr_t)some : bench_random(&state);
        }
        if (count % 100 == 99) {
            made += size + 8;
            continue;
        }
        all = i;
        some = bench_random(&state) % 8 == 0 ? i : some;
        made += size + 8;
    }
    return count;
}

/* The time that the calling thread was ready to run, and had no processor. 0 if nobody knows. */
static uint64_t delayed_ns(int schedstat)
{
    char text[128] = "";
    ssize_t got = pread(schedstat, text, sizeof text - 1, 0);
    const char *second = got > 0 ? strchr(text, ' ') : NULL;
    return second != NULL ? strtoull(second, NULL, 10) : 0;
}

/* The time but for that: it has both of one moment if the thread did not lose its processor between. */
static uint64_t undelayed_now_ns(int schedstat)
{
    uint64_t delayed = delayed_ns(schedstat);
    for (;;) {
        uint64_t now = bench_now_ns();
        uint64_t again = delayed_ns(schedstat);
        if (again == delayed) {
            return now - delayed;
        }
        delayed = again;
    }
}

static void *live(void *unused)
{
    int schedstat = open("/proc/thread-self/schedstat", O_RDONLY);
    uint64_t state = 88172645463325252u;
    uint64_t before = undelayed_now_ns(schedstat);
    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        void *block = malloc(16 + bench_random(&state) % 4000);
        char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        page[0] = 1;
        munmap(page, 4096);
        free(block);
        uint64_t now = undelayed_now_ns(schedstat);
        if (now - before > longest_ns) {
            longest_ns = now - before;
        }
        before = now;
        cpu_ns = bench_thread_cpu_ns();
    }
    return unused;
}

static int take(void *context, const void *data, size_t length)
{
    (void)context;
    (void)data;
    (void)length;
    return 0;
}

/* Of the search, which has children: that of the process without its other thread. */
static uint64_t search_cpu_ns(void)
{
    struct rusage children;
    getrusage(RUSAGE_CHILDREN, &children);
    uint64_t us = (uint64_t)(children.ru_utime.tv_sec + children.ru_stime.tv_sec) * 1000000 +
                  (uint64_t)(children.ru_utime.tv_usec + children.ru_stime.tv_usec);
    return bench_process_cpu_ns() - cpu_ns + us * 1000;
}

/* From /proc/self/status: VmRSS or VmHWM, in KiB. */
static double kib(const char *key)
{
    char line[256];
    double value = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        if (strncmp(line, key, strlen(key)) == 0) {
            value = strtod(line + strlen(key) + 1, NULL);
        }
    }
    if (status != NULL) {
        fclose(status);
    }
    return value;
}

static void forget_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (file == NULL || fputs("5", file) == EOF || fclose(file) != 0) {
        bench_fail("the peak of the resident memory cannot be reset");
    }
}

static void print(const char *rate, const char *what, double value, const char *unit)
{
    char name[64];
    snprintf(name, sizeof name, "leak.%s_%s.pprof", rate, what);
    bench_print(name, value, unit);
}

int main(int argc, char **argv)
{
    const char *rate = argc > 1 ? argv[1] : "512k";
    uint64_t bytes = bench_quick() ? gib / 4 : gib;
    double scale = (double)gib / (double)bytes;
    pthread_t thread;
    pprof_set_mem_profile_rate(strcmp(rate, "1") == 0 ? 1 : 512 * 1024);
    size_t blocks = grow(bytes);
    pprof_profile *leak = pprof_lookup("leak");
    if (leak == NULL) {
        bench_fail("there is no profile leak");
    }
    pthread_create(&thread, NULL, live, NULL);
    struct timespec second = {.tv_sec = 1};
    nanosleep(&second, NULL);
    longest_ns = 0;
    nanosleep(&second, NULL);
    double idle_ms = (double)longest_ns / 1e6;

    double cpu[SEARCHES];
    double wall[SEARCHES];
    double stop[SEARCHES];
    forget_peak();
    double before = kib("VmRSS:");
    for (int i = 0; i < SEARCHES; i++) {
        longest_ns = 0;
        uint64_t before_ns = search_cpu_ns();
        uint64_t start = bench_now_ns();
        if (pprof_profile_write(leak, (pprof_writer){take, NULL}, 0) != 0) {
            bench_fail("the search failed");
        }
        wall[i] = (double)(bench_now_ns() - start) / 1e9;
        cpu[i] = (double)(search_cpu_ns() - before_ns) / 1e9;
        stop[i] = (double)longest_ns / 1e6;
    }
    double peak = kib("VmHWM:");
    over = true;
    pthread_join(thread, NULL);
    printf("# %zu blocks, %zu sites, longest stop without a search %.2f ms\n", blocks,
           pprof_profile_count(leak), idle_ms);
    print(rate, "cpu", bench_median(cpu, SEARCHES) * scale, "s/GiB");
    print(rate, "wall", bench_median(wall, SEARCHES) * scale, "s/GiB");
    print(rate, "stop", bench_median(stop, SEARCHES) * scale, "ms/GiB");
    print(rate, "rss", 100 * (peak - before) / before, "%");
    return 0;
}
