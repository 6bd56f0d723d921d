/* SPDX-License-Identifier: MIT
 *
 * cancelled_anywhere.c ROUNDS: threads that compute and are cancelled asynchronously, wherever they
 * are: in a profiler's handler, too. Each is joined, its cleanup handler runs with the mask that
 * the thread had, and computing goes on afterwards, for as long as it prints. Exit status 42.
 */
#include "burn.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    STATUS = 42,
    THREADS = 4,
    WORK_MS = 300,
    BEFORE_MS = 30, /* in which the kernel notices what it did not notice of many short runs */
    ALTERNATE = 32 * 1024,
#ifdef __GLIBC__
    CANCEL_SIGNAL = 32, /* libc's, which its handler leaves blocked */
    REFUSED_SIGNAL = CANCEL_SIGNAL
#else
    CANCEL_SIGNAL = 33,
    REFUSED_SIGNAL = 65 /* musl sends its own ones to whoever asks */
#endif
};

static atomic_int computing, cleaned, wrong_masks;

static void clean(void *own)
{
    const sigset_t *expected = own;
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    for (int number = 1; number <= 64; number++) {
        if (number != CANCEL_SIGNAL && sigismember(&now, number) != sigismember(expected, number)) {
            atomic_fetch_add(&wrong_masks, 1);
        }
    }
    atomic_fetch_add(&cleaned, 1);
}

static void compute_for_ever(void)
{
    atomic_fetch_add(&computing, 1);
    for (;;) {
        burn_sink++;
    }
}

static void *compute_entry(void *with_stack)
{
    sigset_t own;
    stack_t stack = {.ss_sp = malloc(ALTERNATE), .ss_size = ALTERNATE};
    sigemptyset(&own);
    sigaddset(&own, SIGUSR2);
    pthread_sigmask(SIG_SETMASK, &own, NULL);
    if (with_stack != NULL) {
        sigaltstack(&stack, NULL);
    }
    pthread_cleanup_push(clean, &own);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    compute_for_ever();
    pthread_cleanup_pop(0);
    return with_stack;
}

/* It is asynchronous, so it does not come back from its own call. */
static void *cancel_self(void *unused)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    pthread_cancel(pthread_self());
    _exit(3);
    return unused;
}

static void *sleep_entry(void *unused)
{
    for (;;) {
        sleep(100);
    }
    return unused;
}

void work(void)
{
    report("work", burn_ms(WORK_MS));
}

static int cancel_one(void *(*entry)(void *), void *argument)
{
    pthread_t thread;
    void *result = NULL;
    pthread_create(&thread, NULL, entry, argument);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    return result == PTHREAD_CANCELED;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1;
    pthread_t threads[THREADS];
    for (int round = 0; round < rounds; round++) {
        computing = 0;
        for (int i = 0; i < THREADS; i++) {
            pthread_create(&threads[i], NULL, compute_entry, i % 2 == 0 ? threads : NULL);
        }
        while (computing < THREADS) {
            usleep(100);
        }
        burn_ms(1);
        for (int i = 0; i < THREADS; i++) {
            void *result = NULL;
            pthread_cancel(threads[i]);
            pthread_join(threads[i], &result);
            if (result != PTHREAD_CANCELED) {
                return 2;
            }
        }
    }
    pthread_t itself;
    void *result = NULL;
    pthread_create(&itself, NULL, cancel_self, NULL);
    pthread_join(itself, &result);
    burn_ms(BEFORE_MS);
    work();
    if (result != PTHREAD_CANCELED || !cancel_one(sleep_entry, NULL) ||
        pthread_kill(pthread_self(), REFUSED_SIGNAL) != EINVAL) {
        return 4;
    }
    return cleaned == rounds * THREADS && wrong_masks == 0 ? STATUS : 5;
}
