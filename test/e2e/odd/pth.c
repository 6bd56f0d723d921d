/* SPDX-License-Identifier: MIT
 *
 * pth.c: threads of GNU Pth, which are coroutines: 24 of them with 32 KiB each, which compute,
 * allocate, yield, wait for a mutex and for time to pass. Pth makes their contexts with setjmp on
 * alternate signal stacks, or by ucontext.
 */
#include <pth.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 24, ROUNDS = 60, STEPS = 10000, STACK = 32 * 1024 };

static pth_mutex_t mutex = PTH_MUTEX_INIT;
static unsigned long shared;

static unsigned long compute(unsigned long value, unsigned depth)
{
    volatile unsigned long here = value;
    if (depth > 0) {
        here = compute(here + depth, depth - 1);
    }
    for (unsigned i = 0; i < STEPS / 8; i++) {
        here = here * 6364136223846793005u + 1442695040888963407u;
    }
    return here;
}

static void *entry(void *argument)
{
    unsigned long number = (unsigned long)argument;
    for (unsigned long round = 0; round < ROUNDS; round++) {
        unsigned long *block = malloc(64 + round * 16);
        block[0] = compute(number + round, 7);
        pth_mutex_acquire(&mutex, FALSE, NULL);
        shared += block[0];
        pth_yield(NULL);
        pth_mutex_release(&mutex);
        free(block);
        if (round % 30 == 0) {
            pth_usleep(500);
        }
        pth_yield(NULL);
    }
    return argument;
}

int main(void)
{
    pth_t threads[THREADS];
    unsigned long sum = 0;
    if (!pth_init()) {
        return 1;
    }
    pth_attr_t attributes = pth_attr_new();
    pth_attr_set(attributes, PTH_ATTR_STACK_SIZE, STACK);
    pth_attr_set(attributes, PTH_ATTR_JOINABLE, TRUE);
    for (unsigned long i = 0; i < THREADS; i++) {
        threads[i] = pth_spawn(attributes, entry, (void *)i);
    }
    for (int i = 0; i < THREADS; i++) {
        void *result = NULL;
        pth_join(threads[i], &result);
        sum += (unsigned long)result;
    }
    pth_kill();
    printf("%lu %lu\n", sum, shared);
    return 42;
}
