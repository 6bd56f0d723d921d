/* SPDX-License-Identifier: MIT
 *
 * lifetimes.c: allocates blocks, and frees them elsewhere after a time that it measures.
 *
 * Prints for each pair of functions: "ALLOCATED FREED BLOCKS BYTES LEAST MOST", where the blocks lived
 * for LEAST to MOST microseconds in total: measured inside and outside of the calls.
 *
 * usage: lifetimes        once
 *        lifetimes loop   says "ready", and begins again until its input ends; without lines of pairs
 *
 * Flags: -fno-builtin
 */
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { COUNT = 200, SIZE = 100, LARGER = 5000, PAUSE_MS = 30 };

static char *blocks[COUNT];
static uint64_t least_ns, most_ns;
char *volatile kept;

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* A sum of the times of all blocks is as good as each of them. */
static void born_after(void)
{
    most_ns -= now_ns();
}
static void born_before(void)
{
    least_ns -= now_ns();
}
static void dies_after(void)
{
    least_ns += now_ns();
}
static void died_before(void)
{
    most_ns += now_ns();
}

static void tell(const char *allocated, const char *freed, long bytes)
{
    printf("%s %s %d %ld %llu %llu\n", allocated, freed, COUNT, bytes * COUNT,
           (unsigned long long)least_ns / 1000, (unsigned long long)most_ns / 1000);
    least_ns = most_ns = 0;
}

static void wait_some_time(void)
{
    uint64_t begin = now_ns();
    while (now_ns() - begin < PAUSE_MS * UINT64_C(1000000)) {
        poll(NULL, 0, 1);
    }
}

__attribute__((noinline)) static void make_blocks(void)
{
    for (int i = 0; i < COUNT; i++) {
        born_after();
        blocks[i] = malloc(SIZE);
        born_before();
    }
}

__attribute__((noinline)) static void drop_blocks(void)
{
    for (int i = 0; i < COUNT; i++) {
        dies_after();
        free(blocks[i]);
        died_before();
    }
}

/* The block that grows dies, and another one is born. */
__attribute__((noinline)) static void grow_blocks(void)
{
    for (int i = 0; i < COUNT; i++) {
        dies_after();
        blocks[i] = realloc(blocks[i], LARGER);
        died_before();
    }
}

/* The times of the births of the larger blocks; the sums are those of other blocks. */
__attribute__((noinline)) static void grow_more(void)
{
    for (int i = 0; i < COUNT; i++) {
        born_after();
        blocks[i] = realloc(blocks[i], LARGER);
        born_before();
    }
}

__attribute__((noinline)) static void fail_to_grow(void)
{
    for (int i = 0; i < COUNT; i++) {
        volatile size_t impossible = PTRDIFF_MAX;
        if (realloc(blocks[i], impossible) != NULL) {
            abort();
        }
    }
}

__attribute__((noinline)) static void make_and_drop(void)
{
    for (int i = 0; i < COUNT; i++) {
        born_after();
        char *block = calloc(1, SIZE);
        born_before();
        dies_after();
        free(block);
        died_before();
    }
}

__attribute__((noinline)) static void *drop_in_thread(void *unused)
{
    drop_blocks();
    return unused;
}

__attribute__((noinline)) static void drop_in_child(void)
{
    drop_blocks();
}

static void in_another_thread(void)
{
    pthread_t thread;
    make_blocks();
    wait_some_time();
    pthread_create(&thread, NULL, drop_in_thread, NULL);
    pthread_join(thread, NULL);
    tell("make_blocks", "drop_in_thread", SIZE);
}

static void by_realloc(void)
{
    make_blocks();
    wait_some_time();
    grow_blocks();
    tell("make_blocks", "grow_blocks", SIZE);
    grow_more();
    fail_to_grow();
    wait_some_time();
    fail_to_grow();
    drop_blocks();
    tell("grow_more", "drop_blocks", LARGER);
}

/* What the child frees, the parent has still. */
static void in_a_child(void)
{
    int status = 0;
    make_blocks();
    wait_some_time();
    fflush(stdout);
    if (fork() == 0) {
        drop_in_child();
        tell("make_blocks", "drop_in_child", SIZE);
        exit(0);
    }
    if (wait(&status) < 0 || status != 0) {
        abort();
    }
    least_ns = most_ns = 0;
}

int main(int argc, char **argv)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    kept = malloc(SIZE);
    if (argc > 1 && strcmp(argv[1], "loop") == 0) {
        puts("ready");
        fflush(stdout);
        while (poll(&input, 1, 0) == 0) {
            make_blocks();
            drop_blocks();
        }
        return 0;
    }
    make_and_drop();
    tell("make_and_drop", "make_and_drop", SIZE);
    in_another_thread();
    by_realloc();
    in_a_child();
    return 0;
}
