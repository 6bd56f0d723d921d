/* SPDX-License-Identifier: MIT
 *
 * task_waits.c FOLDER: fibers that wait, at a block rate of 1, and one whose wait goes on; and two
 * threads that hand a fiber to each other. Prints how long the waits were.
 */
#include "fibers.h"

#include <pprof.h>

#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { WAITERS = 3, WAIT_MS = 20 };

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) static void waits_for_answer(fiber *self)
{
    fiber_wait(self, "answer");
    __asm__ volatile("");
}

__attribute__((noinline)) static void lets_others_run(fiber *self)
{
    fiber_wait(self, NULL);
    __asm__ volatile("");
}

static void waiter(fiber *self)
{
    lets_others_run(self);
    waits_for_answer(self);
    __asm__ volatile("");
}

static void waits_on(fiber *self)
{
    fiber_wait(self, "nothing");
    __asm__ volatile("");
}

static fiber waiters[WAITERS], patient;

static void *ends_waits(void *unused)
{
    for (int i = 0; i < WAITERS; i++) {
        fiber_run(&waiters[i]);
        check(waiters[i].done, "a waiter is done");
        fiber_free(&waiters[i]);
    }
    check(pprof_thread_labels() == NULL, "the labels of the other thread");
    return unused;
}

int main(int argc, char **argv)
{
    char path[512];
    pthread_t other;
    uint64_t since_ns = 0, ended_ns = 0;
    const char *const kind[] = {"kind", "waiter"};
    check(argc == 2, "usage: task_waits FOLDER");
    pprof_set_block_profile_rate(PPROF_RATE_ALL);
    pprof_labels *labels = pprof_labels_new(NULL, kind, 1);
    pprof_labels_unref(pprof_set_thread_labels(labels));
    for (int i = 0; i < WAITERS; i++) {
        fiber_make(&waiters[i], waiter, "waiter", NULL);
        fiber_run(&waiters[i]); /* lets others run */
    }
    pprof_labels_unref(pprof_set_thread_labels(NULL));
    pprof_labels_unref(labels);
    fiber_make(&patient, waits_on, "patient", NULL);
    fiber_run(&patient);
    since_ns = now_ns();
    for (int i = 0; i < WAITERS; i++) {
        fiber_run(&waiters[i]);
    }
    while (now_ns() - since_ns < WAIT_MS * UINT64_C(1000000)) {
        poll(NULL, 0, WAIT_MS);
    }
    check(pthread_create(&other, NULL, ends_waits, NULL) == 0, "pthread_create");
    pthread_join(other, NULL);
    ended_ns = now_ns();
    snprintf(path, sizeof path, "%s/block.pb.gz", argv[1]);
    FILE *out = fopen(path, "w");
    check(out != NULL, path);
    check(pprof_profile_write(pprof_lookup("block"), pprof_writer_stdio(out), 0) == 0, "block");
    fclose(out);
    fiber_free(&patient);
    printf("%d %llu\n", WAIT_MS * 1000000, (unsigned long long)(ended_ns - since_ns));
    return 0;
}
