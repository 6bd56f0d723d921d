/* SPDX-License-Identifier: MIT
 *
 * beside.c: see beside.h.
 *
 * Zone: SIGNAL.
 * Owns: whether children have turned out to share nothing; the CPU time of the children; their stack for faults.
 * Tested by: unit.beside, e2e.leak, stress.leak_storm
 */
#include "sys/beside.h"

#include "arch/apart_call.h"
#include "arch/signal_frame.h"
#include "arch/system_call.h"
#include "sys/apart.h"
#include "sys/sampling_signal.h"
#include "sys/signal_mask.h"
#include "sys/tasks.h"

#include <errno.h>
#include <linux/prctl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/wait.h>

#ifndef SA_RESTORER
#define SA_RESTORER 0x04000000
#endif

/* Valgrind knows these together, without others that share something: it makes a copy of the process. */
enum { FLAGS = CLONE_VM | CLONE_VFORK | CLONE_PARENT_SETTID };

typedef struct work {
    void (*function)(void *argument);
    void *argument;
    int parent;
    bool has_begun, has_returned;
} work;

static bool not_shared; /* what a child wrote did not arrive */

static uint64_t cpu_us; /* of this process's children */

uint64_t pp_beside_cpu_us(void)
{
    return __atomic_load_n(&cpu_us, __ATOMIC_RELAXED);
}

void pp_beside_after_fork_in_child(void)
{
    __atomic_store_n(&cpu_us, 0, __ATOMIC_RELAXED);
}

static void wait_for(int child)
{
    struct rusage use = {.ru_utime.tv_sec = 0};
    while (pp_system_call(SYS_wait4, child, NULL, __WCLONE, &use) == -EINTR) {
    }
    uint64_t seconds = (uint64_t)(use.ru_utime.tv_sec + use.ru_stime.tv_sec);
    uint64_t us = (uint64_t)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
    __atomic_add_fetch(&cpu_us, seconds * 1000000 + us, __ATOMIC_RELAXED);
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
    (void)context;
    pp_system_call(SYS_exit, 1);
}

/* Where a signal has no room, the child dies of it, and before Linux 5.16 the kernel then ends all that share its
 * memory. So on_fault() has a stack of its own. Children at the same time have the same one: nothing
 * returns to what is on it. Its pages are touched at a fault only. */
static _Alignas(16) char fault_stack[64 * 1024];

/* The child has copies of the caller's signal actions and limits. If it dies of a signal all the same: a
 * limit of 1 is what the kernel takes for no core, also through a pipe. */
static void prepare(void)
{
    const pp_signal_mask faults = pp_signal_bit(SIGSEGV) | pp_signal_bit(SIGBUS);
    const pp_signal_action ours = {.handler = on_fault,
                                   .flags = SA_SIGINFO | SA_RESTORER | SA_ONSTACK,
                                   .restorer = pp_signal_return,
                                   .mask = ~(pp_signal_mask)0};
    const struct rlimit no_core = {1, 1};
    const stack_t for_faults = {.ss_sp = fault_stack, .ss_size = sizeof fault_stack};
    pp_system_call(SYS_prlimit64, 0, RLIMIT_CORE, &no_core, NULL);
    pp_system_call(SYS_sigaltstack, &for_faults, NULL);
    pp_signal_action_change(SIGSEGV, &ours, NULL);
    pp_signal_action_change(SIGBUS, &ours, NULL);
    pp_system_call(SYS_rt_sigprocmask, SIG_UNBLOCK, &faults, NULL, sizeof faults);
}

static void run(void *of_work)
{
    work *w = of_work;
    __atomic_store_n(&w->has_begun, true, __ATOMIC_RELEASE);
    pp_system_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
    if (pp_system_call(SYS_getppid) != w->parent) {
        return; /* the caller has gone before */
    }
    prepare();
    w->function(w->argument);
    __atomic_store_n(&w->has_returned, true, __ATOMIC_RELEASE);
}

bool pp_beside(void (*function)(void *argument), void *argument)
{
    work w = {function, argument, pp_task_process(), false, false};
    const pp_signal_mask all = ~UINT64_C(0); /* handlers would write to the stack of the child */
    pp_signal_mask old = 0;
    int child = 0;
    int lives = 0;
    if (__atomic_load_n(&not_shared, __ATOMIC_RELAXED)) {
        return false;
    }
    pp_system_call(SYS_rt_sigprocmask, SIG_BLOCK, &all, &old, sizeof all);
    unsigned before = pp_apart_before_child();
    if (pp_apart_call(FLAGS, &child, &lives, run, &w) == 0) {
        wait_for(child);
        if (!__atomic_load_n(&w.has_begun, __ATOMIC_ACQUIRE)) {
            __atomic_store_n(&not_shared, true, __ATOMIC_RELAXED);
        }
    }
    pp_apart_after_child(before);
    pp_signals_restore(&old);
    return __atomic_load_n(&w.has_returned, __ATOMIC_ACQUIRE);
}
