/* SPDX-License-Identifier: MIT
 *
 * threads.c: CPU time of a profile of a thousand threads that wait, 10 frames deep, each at one of
 * 50 places.
 *
 *   first     the first profile of the process, as profile.proto
 *   proto     the same again
 *   text      with symbols, debug=1
 *   dump      every stack in full, debug=2
 *   records   pprof_thread_profile()
 *
 * `threads kernel` opens, reads and closes /proc/self/task/T/syscall of each thread instead, nothing
 * else. No other file says where a thread waits, so this is the least that the first profile can take.
 *
 * While all others wait, the time that the process computes is the time that a profile
 * takes.
 */
#include "measure.h"

#include <pprof.h>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 1000, FRAMES = 8, PLACES = 50, ROUNDS = 100, QUICK_ROUNDS = 20, ROOM = 1100 };

static unsigned begun;
static int tids[THREADS];

static void wait_here(void)
{
    __atomic_add_fetch(&begun, 1, __ATOMIC_SEQ_CST);
    poll(NULL, 0, -1);
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void descend(unsigned frames, unsigned place);

#define PLACE(n)                                                                                   \
    case n:                                                                                        \
        descend(frames - 1, place);                                                                \
        __asm__ volatile("# " #n ::: "memory");                                                    \
        break;
#define FIVE(a, b, c, d, e) PLACE(a) PLACE(b) PLACE(c) PLACE(d) PLACE(e)
#define TEN(n)                                                                                     \
    FIVE(n##0, n##1, n##2, n##3, n##4)                                                             \
    FIVE(n##5, n##6, n##7, n##8, n##9)

/* Each place has a call of its own. */
static void descend(unsigned frames, unsigned place)
{
    if (frames == 0) {
        wait_here();
        return;
    }
    switch (place) {
        TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) default : break;
    }
    __asm__ volatile("" ::: "memory");
}

static void *thread_main(void *place)
{
    enum { FIRST_PLACE = 10 };
    tids[(uintptr_t)place] = gettid();
    descend(FRAMES, FIRST_PLACE + (unsigned)(uintptr_t)place % PLACES);
    return NULL;
}

static int forget(void *context, const void *data, size_t length)
{
    (void)data;
    *(size_t *)context += length;
    return 0;
}

static void write_profile(int debug)
{
    size_t written = 0;
    if (pprof_profile_write(pprof_lookup("thread"), (pprof_writer){forget, &written}, debug) != 0 ||
        written == 0) {
        bench_fail("no profile");
    }
}

static void read_records(int unused)
{
    static pprof_thread_record records[ROOM];
    size_t n = 0;
    (void)unused;
    if (!pprof_thread_profile(records, ROOM, &n) || n != THREADS + 1) {
        bench_fail("no records");
    }
    pprof_thread_records_release(records, n);
}

static void read_calls(int unused)
{
    char text[512];
    (void)unused;
    int folder = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (unsigned i = 0; i < THREADS; i++) {
        snprintf(text, sizeof text, "%d/syscall", tids[i]);
        int file = openat(folder, text, O_RDONLY | O_CLOEXEC);
        if (read(file, text, sizeof text) <= 0) {
            bench_fail("no place of a thread");
        }
        close(file);
    }
    close(folder);
}

static double one_ms(void (*profile)(int), int debug)
{
    const double ms_ns = 1e6;
    uint64_t start_ns = bench_process_cpu_ns();
    profile(debug);
    return (double)(bench_process_cpu_ns() - start_ns) / ms_ns;
}

static void measure(const char *name, void (*profile)(int), int debug)
{
    static double times[ROUNDS];
    unsigned rounds = bench_quick() ? QUICK_ROUNDS : ROUNDS;
    for (unsigned i = 0; i < rounds; i++) {
        times[i] = one_ms(profile, debug);
    }
    bench_print(name, bench_median(times, rounds), "ms");
}

int main(int argc, char **argv)
{
    (void)argv;
    enum { STACK_BYTES = 64 * 1024, SETTLE_MS = 200 };
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    for (uintptr_t i = 0; i < THREADS; i++) {
        if (pthread_create(&thread, &attributes, thread_main, (void *)i) != 0) {
            bench_fail("pthread_create");
        }
    }
    while (__atomic_load_n(&begun, __ATOMIC_SEQ_CST) < THREADS) {
        poll(NULL, 0, 1);
    }
    poll(NULL, 0, SETTLE_MS);
    if (argc > 1) {
        bench_print("threads.first.kernel", one_ms(read_calls, 0), "ms");
        fflush(stdout);
        _exit(0);
    }
    bench_print("threads.first.pprof", one_ms(write_profile, 0), "ms");
    measure("threads.proto.pprof", write_profile, 0);
    measure("threads.text.pprof", write_profile, 1);
    measure("threads.dump.pprof", write_profile, 2);
    measure("threads.records.pprof", read_records, 0);
    fflush(stdout);
    _exit(0);
}
