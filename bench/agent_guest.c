/* SPDX-License-Identifier: MIT
 *
 * agent_guest.c: a small program of many on a host. Once in a while it allocates a little, waits for
 * a lock, and computes, in some different places. It ends with its standard input.
 */
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

enum { PLACES = 16, KEPT = 256, PAUSE_MS = 500, TURNS = 100000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *kept[KEPT];
static volatile uint64_t sum;

__attribute__((noinline)) static void keep(unsigned turn)
{
    free(kept[turn % KEPT]);
    kept[turn % KEPT] = malloc(1000 + turn % 7 * 100);
}

__attribute__((noinline)) static void compute(unsigned turn)
{
    for (unsigned i = 0; i < TURNS; i++) {
        sum += i ^ turn;
    }
}

/* As many stacks as it has places to come from. */
__attribute__((noinline)) static void go(unsigned depth, unsigned turn)
{
    if (depth > 0) {
        go(depth - 1, turn);
        sum++;
        return;
    }
    pthread_mutex_lock(&lock);
    keep(turn);
    compute(turn);
    pthread_mutex_unlock(&lock);
}

static void *work(void *unused)
{
    for (unsigned turn = 0;; turn++) {
        go(turn % PLACES, turn);
        usleep(PAUSE_MS * 1000);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    char byte;

    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, work, NULL);
    }
    return read(STDIN_FILENO, &byte, 1) < 0;
}
