/* SPDX-License-Identifier: MIT
 *
 * attached_heap.c: a program that knows what it allocates. Its threads are there from the beginning, with blocks of old.
 * It prints "ready"; after each line that it reads, its threads allocate, resize and free, each frees what another one has
 * allocated, and the old blocks go. Then it prints what has been allocated since the beginning, without the old blocks,
 * and what of that is in use:
 *
 *   FUNCTION SIZE BLOCKS BLOCKS_IN_USE
 *   ...
 *   end
 *
 * Flags: -fno-builtin
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, BATCHES = 20, MOST = 20000, OLD = 4000 };

typedef void *maker(void *block);

/* None of them calls the allocator as its last deed: it would not be on the stack then. */
#define SITE(name, call)                                                                           \
    __attribute__((noinline)) static void *name(void *block)                                       \
    {                                                                                              \
        void *made = call;                                                                         \
        __asm__ volatile("" : "+r"(made), "+r"(block));                                            \
        return made;                                                                               \
    }
SITE(make_64, malloc(64))
SITE(make_1000, malloc(1000))
SITE(make_20000, calloc(20, 1000))
SITE(make_1048576, malloc(1048576))
SITE(begin_500, malloc(500))
SITE(grow_3000, realloc(block, 3000))
SITE(grow_old_20000, realloc(block, 20000))
SITE(keep_old, malloc(1000))

static const struct site {
    const char *name;
    maker *make, *resize;
    unsigned size, blocks; /* of each thread in a batch */
    unsigned one_in;       /* is kept */
} sites[] = {
    {"make_64", make_64, NULL, 64, MOST, 2},
    {"make_1000", make_1000, NULL, 1000, 2500, 4},
    {"make_20000", make_20000, NULL, 20000, 100, 4},
    {"make_1048576", make_1048576, NULL, 1048576, 5, 5},
    {"grow_3000", begin_500, grow_3000, 3000, 1200, 4},
};
enum { SITES = sizeof sites / sizeof *sites };

static void *blocks[THREADS][MOST];
static void *old[THREADS][OLD];
static pthread_barrier_t barrier; /* of the threads */
static pthread_barrier_t gate;    /* and main() */
static unsigned long rounds;

static void make(const struct site *s, void **to)
{
    for (unsigned i = 0; i < s->blocks; i++) {
        to[i] = s->make(NULL);
        to[i] = s->resize != NULL ? s->resize(to[i]) : to[i];
    }
}

static void drop(const struct site *s, void **from)
{
    for (unsigned i = 0; i < s->blocks; i++) {
        if (i % s->one_in != 0) {
            free(from[i]);
        }
    }
}

/* A quarter grows and stays, a quarter grows and goes, the rest goes. */
static void end_old(void **from)
{
    for (unsigned i = 0; i < OLD; i++) {
        void *block = i % 4 < 2 ? grow_old_20000(from[i]) : from[i];
        if (i % 4 != 0) {
            free(block);
        }
        from[i] = NULL;
    }
}

static void work(unsigned self)
{
    unsigned other = (self + 1) % THREADS;
    for (unsigned batch = 0; batch < BATCHES; batch++) {
        for (unsigned i = 0; i < SITES; i++) {
            make(&sites[i], blocks[self]);
            pthread_barrier_wait(&barrier);
            drop(&sites[i], blocks[other]);
            pthread_barrier_wait(&barrier);
        }
    }
    if (rounds == 1) {
        end_old(old[other]);
    }
}

static void *live(void *number)
{
    unsigned self = (unsigned)(uintptr_t)number;
    for (unsigned i = 0; i < OLD; i++) {
        old[self][i] = keep_old(NULL);
    }
    for (;;) {
        pthread_barrier_wait(&gate); /* main() prints, and reads a line */
        pthread_barrier_wait(&gate);
        work(self);
    }
    return NULL;
}

static void tell(void)
{
    for (unsigned i = 0; i < SITES; i++) {
        const struct site *s = &sites[i];
        unsigned long batches = rounds * BATCHES * THREADS;
        unsigned long kept = (s->blocks + s->one_in - 1) / s->one_in;
        printf("%s %u %lu %lu\n", s->name, s->size, batches * s->blocks, batches * kept);
        if (s->resize != NULL) {
            printf("begin_500 500 %lu 0\n", batches * s->blocks);
        }
    }
    printf("grow_old_20000 20000 %d %d\n", THREADS * OLD / 2, THREADS * OLD / 4);
    puts("end");
    fflush(stdout);
}

int main(void)
{
    char line[100];
    pthread_barrier_init(&barrier, NULL, THREADS);
    pthread_barrier_init(&gate, NULL, THREADS + 1);
    for (uintptr_t i = 0; i < THREADS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, live, (void *)i) != 0) {
            return 2;
        }
    }
    pthread_barrier_wait(&gate);
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) != NULL) {
        rounds++;
        pthread_barrier_wait(&gate);
        pthread_barrier_wait(&gate);
        tell();
    }
    return 7;
}
