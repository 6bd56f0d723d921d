/* SPDX-License-Identifier: MIT
 *
 * parked_thread.h: threads of which a test knows where they are: one waits in poll() two functions
 * below its start, one computes.
 */
#ifndef PP_TEST_PARKED_THREAD_H
#define PP_TEST_PARKED_THREAD_H

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct parked_thread {
    pthread_t thread;
    int pipe[2];
    bool computes;
    int blocked; /* a signal that it blocks, or 0 */
    int tid;     /* set when it is about to wait */
    bool stop;
    uintptr_t returns_to[2]; /* of wait_in_poll(), and of the function above it */
} parked_thread;

/* The array's size is known to nobody: its frame cannot be left without the frame pointer. */
__attribute__((noinline)) static int wait_in_poll(parked_thread *t, size_t room_bytes)
{
    char room[room_bytes];
    struct pollfd end = {.fd = t->pipe[0], .events = POLLIN};
    memset(room, 0, room_bytes);
    t->returns_to[0] = (uintptr_t)__builtin_return_address(0);
    __atomic_store_n(&t->tid, gettid(), __ATOMIC_SEQ_CST);
    int got = poll(&end, 1, -1);
    __asm__ volatile("" ::"r"(room) : "memory");
    return got;
}

__attribute__((noinline)) static void compute(parked_thread *t)
{
    __atomic_store_n(&t->tid, gettid(), __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&t->stop, __ATOMIC_SEQ_CST)) {
    }
}

__attribute__((noinline)) static int park(parked_thread *t)
{
    enum { ROOM_BYTES = 100 };
    t->returns_to[1] = (uintptr_t)__builtin_return_address(0);
    if (t->computes) {
        compute(t);
        return 0;
    }
    int got = wait_in_poll(t, ROOM_BYTES);
    __asm__ volatile("" ::: "memory");
    return got;
}

static void *parked_main(void *argument)
{
    parked_thread *t = argument;
    const uint64_t set = t->blocked != 0 ? UINT64_C(1) << (t->blocked - 1) : 0;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &set, NULL,
            sizeof set); /* libc leaves out its own two */
    bool undisturbed = park(t) >= 0;
    return undisturbed ? argument : NULL;
}

/* Returns when it is there, or about to be. */
static void parked_start(parked_thread *t)
{
    if (pipe(t->pipe) != 0 || pthread_create(&t->thread, NULL, parked_main, t) != 0) {
        _exit(2);
    }
    while (__atomic_load_n(&t->tid, __ATOMIC_SEQ_CST) == 0) {
        poll(NULL, 0, 1);
    }
}

/* Whether its wait was not interrupted. */
static bool parked_end(parked_thread *t)
{
    void *result = NULL;
    __atomic_store_n(&t->stop, true, __ATOMIC_SEQ_CST);
    close(t->pipe[1]);
    pthread_join(t->thread, &result);
    close(t->pipe[0]);
    return result != NULL;
}

#endif
