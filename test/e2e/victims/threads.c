/* SPDX-License-Identifier: MIT
 *
 * threads.c: threads made in every way, each with work of its own.
 */
#include "burn.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

static double posix_ms, c11_ms, early_ms, small_ms;
static volatile double raw_ms;
static atomic_int raw_done;

void *posix_entry(void *unused)
{
    posix_ms = burn_ms(300);
    return unused;
}

int c11_entry(void *unused)
{
    (void)unused;
    c11_ms = burn_ms(300);
    return 17;
}

/* On the smallest stack there may be, and left by pthread_exit. */
void *small_entry(void *unused)
{
    small_ms = burn_ms(200);
    pthread_exit(unused);
}

/* Started before main. */
void *early_entry(void *unused)
{
    early_ms = burn_ms(200);
    return unused;
}

/* A thread that no library knows of: found by looking. 600 ms, since it may take 250
 * to be found. */
int raw_entry(void *unused)
{
    (void)unused;
    raw_ms = burn_ms(600);
    atomic_store(&raw_done, 1);
    syscall(SYS_exit, 0);
    return 0;
}

static pthread_t early;

__attribute__((constructor)) static void start_early(void)
{
    pthread_create(&early, NULL, early_entry, NULL);
}

int main(void)
{
    enum { RAW_STACK = 256 * 1024 };
    pthread_t posix;
    pthread_t small;
    thrd_t c11;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN));

    if (pthread_create(&posix, NULL, posix_entry, NULL) != 0 ||
        pthread_create(&small, &attributes, small_entry, NULL) != 0 ||
        thrd_create(&c11, c11_entry, NULL) != thrd_success) {
        return 1;
    }
    char *raw_stack = malloc(RAW_STACK);
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    if (clone(raw_entry, raw_stack + RAW_STACK, flags, NULL) < 0) {
        return 2;
    }
    double main_ms = burn_ms(300);
    int c11_result = 0;
    pthread_join(early, NULL);
    pthread_join(posix, NULL);
    pthread_join(small, NULL);
    thrd_join(c11, &c11_result);
    while (!atomic_load(&raw_done)) {
        main_ms += burn_ms(5);
    }
    report("main", main_ms);
    report("posix_entry", posix_ms);
    report("c11_entry", c11_ms);
    report("small_entry", small_ms);
    report("early_entry", early_ms);
    report("raw_entry", raw_ms);
    report("process", process_ms());
    return c11_result == 17 ? 0 : 3;
}
