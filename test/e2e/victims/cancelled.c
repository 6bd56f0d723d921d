/* SPDX-License-Identifier: MIT
 *
 * cancelled.c: threads that are cancelled while they compute. A deferred cancellation takes effect
 * at the thread's own cancellation points and nowhere else: not in what a profiler does in between.
 * Threads that the profiler has not been told of come and go, so that it has to look for them.
 */
#include "burn.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STATUS = 42, STACK = 64 * 1024, STRANGERS = 40 };

static atomic_int computed, cleaned, strangers;

static void clean(void *unused)
{
    (void)unused;
    atomic_store(&cleaned, atomic_load(&computed) ? 2 : 1);
}

static void *compute_entry(void *unused)
{
    pthread_cancel(pthread_self());
    pthread_cleanup_push(clean, NULL);
    burn_ms(1000);
    atomic_store(&computed, 1);
    pthread_testcancel();
    pthread_cleanup_pop(0);
    return unused;
}

static int stranger_entry(void *unused)
{
    (void)unused;
    burn_ms(20);
    atomic_fetch_add(&strangers, 1);
    syscall(SYS_exit, 0);
    return 0;
}

int main(void)
{
    const int flags =
        CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    pthread_t thread;
    void *result = NULL;
    pthread_create(&thread, NULL, compute_entry, NULL);
    for (int i = 0; i < STRANGERS && !atomic_load(&computed); i++) {
        char *stack = malloc(STACK);
        if (clone(stranger_entry, stack + STACK, flags, NULL) < 0) {
            return 2;
        }
        while (atomic_load(&strangers) <= i) {
            sched_yield();
        }
    }
    pthread_join(thread, &result);
    report("computed", computed);
    report("cleaned", cleaned);
    return result == PTHREAD_CANCELED && cleaned == 2 ? STATUS : 1;
}
