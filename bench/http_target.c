/* SPDX-License-Identifier: MIT
 *
 * http_target.c: a program with /debug/pprof/ in it and much to show: a thousand threads that wait, each at one of 50
 * places, and ten thousand stacks that have allocated a block. http_target.go is the same program in Go.
 *
 * Prints "PROCESS PORT", and serves until it is killed; ten minutes at most.
 */
#include "measure.h"

#include <pprof.h>
#include <pprof_http.h>

#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    THREADS = 1000,
    PLACES = 50,
    THREAD_FRAMES = 8,
    STACKS = 10000,
    STACK_FRAMES = 20, /* 14 of them choose one of two calls */
    LEAST_BYTES = 64,  /* of a block; there are a hundred sizes */
    SIZES = 100,
    SIZE_STEP = 16,
    STACK_BYTES = 64 * 1024,
    END_SECONDS = 600
};

typedef void work(void);

static unsigned waiting;
static void *volatile kept[STACKS];
static unsigned kept_count;

/* Which of two places a call comes from is a bit of the path. */
__attribute__((noinline)) static void descend(unsigned path, unsigned depth, work *function)
{
    if (depth == 0) {
        function();
        __asm__ volatile("# the bottom" ::: "memory");
    } else if (path % 2 == 0) {
        descend(path / 2, depth - 1, function);
        __asm__ volatile("# even" ::: "memory"); /* the two calls are not one */
    } else {
        descend(path / 2, depth - 1, function);
        __asm__ volatile("# odd" ::: "memory");
    }
}

__attribute__((noinline)) static void keep_block(void)
{
    kept[kept_count] = malloc(LEAST_BYTES + kept_count % SIZES * SIZE_STEP);
    kept_count++;
}

__attribute__((noinline)) static void wait_here(void)
{
    __atomic_add_fetch(&waiting, 1, __ATOMIC_SEQ_CST);
    poll(NULL, 0, -1);
    __asm__ volatile("" ::: "memory");
}

static void *thread_main(void *place)
{
    descend((unsigned)(uintptr_t)place % PLACES, THREAD_FRAMES, wait_here);
    return NULL;
}

static void create_threads(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    for (uintptr_t i = 0; i < THREADS; i++) {
        if (pthread_create(&thread, &attributes, thread_main, (void *)i) != 0) {
            bench_fail("pthread_create");
        }
    }
    while (__atomic_load_n(&waiting, __ATOMIC_SEQ_CST) < THREADS) {
        poll(NULL, 0, 1);
    }
}

int main(void)
{
    char address[64];
    alarm(END_SECONDS);
    int64_t usual = pprof_set_mem_profile_rate(1);
    create_threads();
    for (unsigned i = 0; i < STACKS; i++) {
        descend(i, STACK_FRAMES, keep_block);
    }
    pprof_set_mem_profile_rate(usual); /* what the server allocates is not the question */
    if (pprof_http_serve("127.0.0.1:0") != 0 || pprof_http_address(address, sizeof address) != 0) {
        bench_fail("no server");
    }
    printf("%d %s\n", (int)getpid(), strrchr(address, ':') + 1);
    fflush(stdout);
    poll(NULL, 0, -1);
    return 0;
}
