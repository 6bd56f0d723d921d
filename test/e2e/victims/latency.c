/* SPDX-License-Identifier: MIT
 *
 * latency.c: bursts in which one thread runs, and bursts in which two do, in turn.
 *
 * Each thread notes when it ran: a loop that looks at the clock, and calls a gap what is longer than a
 * look takes. So the victim knows for how long both ran at the same time, however busy the machine is.
 *
 * Prints "alone US" and "together CPU_US BOTH_US": the CPU time of run_together, and for how long two
 * threads were in it at the same time.
 *
 * usage: latency SECONDS BURST_MS IDLE_THREADS
 *        latency crowd THREADS SECONDS    all run all the time, on whatever processors there are: prints
 *                                         "crowd CPU_US ANY_US", ANY_US being for how long at least one ran
 *
 * Flags: -fno-builtin
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { GAP_NS = 20000, MOST = 1 << 20, CROWD_MOST = 16 };

typedef struct piece {
    uint64_t begin, end;
} piece;

typedef struct pieces {
    piece list[MOST];
    int count;
} pieces;

static pieces of_first, of_second, of_alone;
static sem_t begins, ended, never;
static uint64_t burst_ns;
static int over;

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Runs for `ns`, and notes when. */
static void run_and_note(pieces *to, uint64_t ns)
{
    uint64_t begin = now_ns(CLOCK_MONOTONIC);
    uint64_t last = begin;
    for (uint64_t ran = 0; ran < ns;) {
        uint64_t now = now_ns(CLOCK_MONOTONIC);
        if (now - last > GAP_NS) {
            if (to->count < MOST) {
                to->list[to->count++] = (piece){begin, last};
            }
            begin = now;
        } else {
            ran += now - last;
        }
        last = now;
    }
    if (to->count < MOST) {
        to->list[to->count++] = (piece){begin, last};
    }
}

__attribute__((noinline)) static void run_alone(void)
{
    run_and_note(&of_alone, burst_ns);
    __asm__ volatile("");
}

__attribute__((noinline)) static void run_together(pieces *to)
{
    run_and_note(to, burst_ns);
    __asm__ volatile("");
}

static void *second(void *unused)
{
    for (;;) {
        while (sem_wait(&begins) != 0) {
        }
        if (over) {
            return unused;
        }
        run_together(&of_second);
        sem_post(&ended);
    }
}

static void *idle(void *unused)
{
    while (sem_wait(&never) != 0) {
    }
    return unused;
}

static uint64_t sum(const pieces *of)
{
    uint64_t all = 0;
    for (int i = 0; i < of->count; i++) {
        all += of->list[i].end - of->list[i].begin;
    }
    return all;
}

static uint64_t both(const pieces *x, const pieces *y)
{
    uint64_t all = 0;
    for (int i = 0, k = 0; i < x->count && k < y->count;) {
        piece a = x->list[i];
        piece b = y->list[k];
        uint64_t begin = a.begin > b.begin ? a.begin : b.begin;
        uint64_t end = a.end < b.end ? a.end : b.end;
        all += end > begin ? end - begin : 0;
        if (a.end < b.end) {
            i++;
        } else {
            k++;
        }
    }
    return all;
}

/* Both threads on one processor would never run at the same time. */
static void move_to(pthread_t thread, int index)
{
    cpu_set_t all;
    cpu_set_t one;
    CPU_ZERO(&one);
    sched_getaffinity(0, sizeof all, &all);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &all) && index-- == 0) {
            CPU_SET(cpu, &one);
            pthread_setaffinity_np(thread, sizeof one, &one);
        }
    }
}

/* ---- a crowd ---- */

static pieces of_crowd[CROWD_MOST];
static uint64_t crowd_ns;

__attribute__((noinline)) static void *run_in_crowd(void *of_pieces)
{
    uint64_t end = now_ns(CLOCK_MONOTONIC) + crowd_ns;
    while (now_ns(CLOCK_MONOTONIC) < end) {
        run_and_note(of_pieces, 1000000);
    }
    return NULL;
}

static int by_begin(const void *x, const void *y)
{
    const piece *a = x;
    const piece *b = y;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

/* For how long at least one ran; overwrites the first one's pieces. */
static uint64_t any(int threads)
{
    pieces *all = &of_crowd[0];
    uint64_t ns = 0;
    uint64_t until = 0;
    for (int i = 1; i < threads; i++) {
        for (int k = 0; k < of_crowd[i].count && all->count < MOST; k++) {
            all->list[all->count++] = of_crowd[i].list[k];
        }
    }
    qsort(all->list, (size_t)all->count, sizeof *all->list, by_begin);
    for (int i = 0; i < all->count; i++) {
        uint64_t begin = all->list[i].begin > until ? all->list[i].begin : until;
        if (all->list[i].end > begin) {
            ns += all->list[i].end - begin;
            until = all->list[i].end;
        }
    }
    return ns;
}

static int run_crowd(int threads, double seconds)
{
    pthread_t ids[CROWD_MOST];
    uint64_t cpu_ns = 0;
    crowd_ns = (uint64_t)(seconds * 1e9);
    for (int i = 0; i < threads; i++) {
        if (pthread_create(&ids[i], NULL, run_in_crowd, &of_crowd[i]) != 0) {
            abort();
        }
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
        cpu_ns += sum(&of_crowd[i]);
    }
    printf("crowd %llu %llu\n", (unsigned long long)cpu_ns / 1000,
           (unsigned long long)any(threads) / 1000);
    return 0;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    pthread_t waiting;
    if (argc == 4 && strcmp(argv[1], "crowd") == 0) {
        int threads = (int)strtol(argv[2], NULL, 10);
        return run_crowd(threads < CROWD_MOST ? threads : CROWD_MOST, strtod(argv[3], NULL));
    }
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
    burst_ns = (uint64_t)((argc > 2 ? strtod(argv[2], NULL) : 3) * 1e6);
    int idle_threads = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 0;
    sem_init(&begins, 0, 0);
    sem_init(&ended, 0, 0);
    sem_init(&never, 0, 0);
    for (int i = 0; i < idle_threads; i++) {
        if (pthread_create(&waiting, NULL, idle, NULL) != 0) {
            abort();
        }
    }
    pthread_create(&thread, NULL, second, NULL);
    move_to(thread, 1);
    move_to(pthread_self(), 0);
    while (sum(&of_alone) < (uint64_t)(seconds * 1e9)) {
        run_alone();
        sem_post(&begins);
        run_together(&of_first);
        while (sem_wait(&ended) != 0) {
        }
    }
    over = 1;
    sem_post(&begins);
    pthread_join(thread, NULL);
    printf("alone %llu\n", (unsigned long long)sum(&of_alone) / 1000);
    printf("together %llu %llu\n", (unsigned long long)(sum(&of_first) + sum(&of_second)) / 1000,
           (unsigned long long)both(&of_first, &of_second) / 1000);
    return 0;
}
