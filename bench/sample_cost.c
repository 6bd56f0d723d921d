/* SPDX-License-Identifier: MIT
 *
 * sample_cost.c: what one CPU sample costs, from the signal on.
 *
 * usage: sample_cost HZ
 *
 * A real signal of the profiler's timer is caught once. It is then sent to this thread again and
 * again, as it was (the kernel lets a process forge signals to itself), at the bottom of a stack of
 * 30 frames, in turns with an empty handler in place of the profiler's:
 *
 *   delivery   system call, signal frame, empty handler, return
 *   handler    what the profiler's handler costs beyond that
 *
 * Stacks change from block to block; within a block they are the same.
 */
#include "chain.h"
#include "measure.h"
#include "profilers.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    DEPTH = 30,
    OUTER_FRAMES = 6, /* bottom, chain_descend, main, libc's two and _start */
    BLOCK = 500,      /* signals between two looks at the clock */
    BLOCKS = 200,
    QUICK_BLOCKS = 40
};

/* What the kernel takes: libc keeps the signal for itself. */
typedef struct kernel_action {
    void (*handler)(int number, siginfo_t *info, void *context);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
} kernel_action;

static void get_action(kernel_action *action)
{
    if (syscall(SYS_rt_sigaction, profiler_signal, NULL, action, sizeof action->mask) != 0) {
        bench_fail("the handler of samples cannot be read");
    }
}

static void set_action(const kernel_action *action)
{
    if (syscall(SYS_rt_sigaction, profiler_signal, action, NULL, sizeof action->mask) != 0) {
        bench_fail("the handler of samples cannot be set");
    }
}

static siginfo_t seen;
static volatile sig_atomic_t seen_count;

static void remember(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    seen = *info;
    seen_count = 1;
}

static void do_nothing(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info, (void)context;
}

/* Catches one signal of the profiler that runs. */
static void catch_signal(const kernel_action *profilers)
{
    kernel_action ours = *profilers;
    ours.handler = remember;
    set_action(&ours);
    uint64_t give_up_ns = bench_thread_cpu_ns() + UINT64_C(5000000000);
    while (!seen_count && bench_thread_cpu_ns() < give_up_ns) {
    }
    set_action(profilers);
    if (!seen_count) {
        bench_fail("no signal came within 5 s");
    }
}

/* libc's syscall(). libpprof hooks the name, and a sample in a hook costs more than elsewhere. */
static long (*system_call)(long number, ...);

static void find_system_call(void)
{
    void *libc = dlopen("libc.so.6", RTLD_LAZY);
    void *found = libc != NULL ? dlsym(libc, "syscall") : NULL;
    if (found == NULL) {
        bench_fail("libc's syscall() cannot be found");
    }
    memcpy(&system_call, &found, sizeof found);
    dlclose(libc); /* the program itself keeps it loaded */
}

static void send_block(chain *c)
{
    (void)c;
    pid_t pid = getpid();
    pid_t tid = (pid_t)system_call(SYS_gettid);
    for (unsigned i = 0; i < BLOCK; i++) {
        if (system_call(SYS_rt_tgsigqueueinfo, pid, tid, profiler_signal, &seen) != 0) {
            bench_fail("the signal cannot be sent again");
        }
    }
}

/* CPU time of a signal, at the bottom of the stack that `path` leads to. */
static double time_block(const kernel_action *action, uint64_t path)
{
    chain c = {.path = path, .bottom = send_block};
    set_action(action);
    chain_descend_plain(&c, 1); /* the handler's own code and data */
    c.path = path;
    uint64_t start_ns = bench_thread_cpu_ns();
    chain_descend_plain(&c, DEPTH - OUTER_FRAMES);
    return (double)(bench_thread_cpu_ns() - start_ns) / BLOCK;
}

int main(int argc, char **argv)
{
    static double delivery[BLOCKS];
    static double handler[BLOCKS];
    char name[64];
    uint64_t random_state = UINT64_C(0x2545f4914f6cdd1d);
    kernel_action profilers;
    unsigned blocks = bench_quick() ? QUICK_BLOCKS : BLOCKS;
    int hz = argc == 2 ? (int)strtol(argv[1], NULL, 10) : 0;
    if (hz < 1) {
        bench_fail("usage: sample_cost HZ");
    }
    find_system_call();
    profiler_start(hz);
    get_action(&profilers);
    kernel_action empty = profilers;
    empty.handler = do_nothing;
    catch_signal(&profilers);
    for (unsigned i = 0; i < blocks; i++) {
        uint64_t path = bench_random(&random_state);
        delivery[i] = time_block(&empty, path);
        handler[i] = time_block(&profilers, path) - delivery[i];
    }
    profiler_stop();
    snprintf(name, sizeof name, "sample_cost.delivery.%s", profiler_name);
    bench_print(name, bench_median(delivery, blocks), "ns");
    snprintf(name, sizeof name, "sample_cost.handler.%s", profiler_name);
    bench_print(name, bench_median(handler, blocks), "ns");
    return 0;
}
