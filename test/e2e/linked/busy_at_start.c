/* SPDX-License-Identifier: MIT
 *
 * busy_at_start.c FILE: a CPU profile starts while the only thread that computes blocks all signals
 * for a moment, as libc does where it creates threads and processes. Exit status 42.
 */
#include "must.h"
#include <pprof.h>

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    STATUS = 42,
    HZ = 1000,
    WORK_MS = 300,
    BLOCKED_US = 20000,
    MS_PER_S = 1000,
    NS_PER_MS = 1000000
};

static volatile int blocked;

static long cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * MS_PER_S + now.tv_nsec / NS_PER_MS;
}

void work(void)
{
    long end = cpu_ms() + WORK_MS;
    while (cpu_ms() < end) {
    }
}

static void *block_and_work(void *unused)
{
    const uint64_t all = ~UINT64_C(0);
    uint64_t old = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &old, sizeof all);
    blocked = 1;
    usleep(BLOCKED_US);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, sizeof old);
    work();
    return unused;
}

int main(int argc, char **argv)
{
    const pprof_cpu_options options = {.size = sizeof options, .hz = HZ};
    FILE *file = argc > 1 ? fopen(argv[1], "wb") : NULL;
    pthread_t thread;
    check(file != NULL, "fopen");
    check(pthread_create(&thread, NULL, block_and_work, NULL) == 0, "pthread_create");
    while (!blocked) {
    }
    check(pprof_start_cpu_profile_opts(pprof_writer_stdio(file), &options) == 0, "start");
    check(pthread_join(thread, NULL) == 0, "pthread_join");
    check(pprof_stop_cpu_profile() == 0 && fclose(file) == 0, "stop");
    return STATUS;
}
