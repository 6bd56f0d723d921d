/* SPDX-License-Identifier: MIT
 *
 * process.c: follows the process through fork and dlclose to its end, and passes the events of the
 * hooks on.
 *
 * The library follows fork() through pthread_atfork, whose handlers libc's own callers of fork
 * (system, popen, daemon, forkpty) run as well. All signals are blocked during fork: a signal of
 * ours that arrives while the kernel copies a large address space restarts the copy, and at a high
 * enough rate the copy never ends.
 *
 * The library holds no lock over the fork: handlers that were registered before ours run after
 * ours, and may wait for threads of the program that want such a lock. The child resets the locks
 * that it inherited instead. It has to be alone for that: a handler that was registered before ours
 * may create a thread in the child (ThreadSanitizer's does), which is why the hooks of threads ask
 * first (pp_hook_settle_fork()).
 *
 * A child of vfork, or of a raw clone, has not run the handlers. Its process id shows what it is.
 *
 * Zone: HOOK. The program may call _exit from its signal handlers.
 * Locks: none here; the real dlclose takes the loader's.
 * Owns: the owner's process id, the events, the pair of functions around dlclose; the signal mask
 * from before the fork (8 bytes of TLS).
 * Tested by: e2e.exit, e2e.children, e2e.fatal_signals, e2e.seccomp,
 *            e2e.crash, stress.unload, e2e.hooks
 */
#include "host/process.h"

#include "arch/shown_as.h"
#include "arch/system_call.h"
#include "base/compiler.h"
#include "crash/dump_turn.h"
#include "host/real.h"
#include "sys/own_work.h"
#include "sys/signal_mask.h"
#include "sys/tasks.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

typedef int dlclose_function(void *);

static struct {
    pp_process_events events;
    int owner_pid;
    bool nothing_to_end; /* see pp_hook_tell_confinement() */
    void *real_dlclose;
    void (*before_dlclose)(void);
    void (*after_dlclose)(void);
} state;

static PP_TLS pp_signal_mask mask_before_fork;

/* libc's idea of the process id would not do: a raw clone with CLONE_VM shares our memory. */
bool pp_hook_is_owner(void)
{
    return pp_task_process() == state.owner_pid;
}

/* ---- events ---- */

void pp_hook_tell_exec(pp_exec *exec)
{
    pp_dump_turn_let_crash();
    if (state.events.before_exec != NULL) {
        state.events.before_exec(exec);
    }
}

void pp_hook_tell_failed_exec(pp_exec *exec)
{
    int saved_errno = errno;
    if (state.events.after_failed_exec != NULL) {
        state.events.after_failed_exec(exec);
    }
    errno = saved_errno;
}

void pp_hook_tell_child_executes(const pp_exec *exec, int child)
{
    int saved_errno = errno;
    if (state.events.child_executes != NULL) {
        state.events.child_executes(exec, child);
    }
    errno = saved_errno;
}

bool pp_hook_leaves_library(const pp_exec *exec)
{
    int saved_errno = errno;
    bool leaves = state.events.leaves_library != NULL && state.events.leaves_library(exec);
    errno = saved_errno;
    return leaves;
}

bool pp_hook_tell_confinement(void)
{
    if (state.events.before_confinement == NULL || !pp_hook_is_owner()) {
        return false;
    }
    state.events.before_confinement();
    __atomic_store_n(&state.nothing_to_end, true, __ATOMIC_RELAXED);
    return true;
}

void pp_hook_expect_end(void)
{
    __atomic_store_n(&state.nothing_to_end, false, __ATOMIC_RELAXED);
}

void pp_hook_tell_end(const void *interrupted)
{
    pp_dump_turn_let_crash();
    bool over = __atomic_load_n(&state.nothing_to_end, __ATOMIC_RELAXED);
    if (!over && state.events.at_end != NULL && pp_hook_is_owner()) {
        state.events.at_end(interrupted);
    }
}

/* ---- dlclose ---- */

void pp_hook_around_unload(void (*before)(void), void (*after)(void))
{
    __atomic_store_n(&state.after_dlclose, after, __ATOMIC_RELEASE);
    __atomic_store_n(&state.before_dlclose, before, __ATOMIC_RELEASE);
}

static void call_if_set(void (**place)(void))
{
    void (*function)(void) = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    if (function != NULL) {
        function();
    }
}

/* The library that goes may hold code of samples that have no mapping yet: the event remembers the
 * mapping in time. */
__attribute__((visibility("default"))) int dlclose(void *handle)
{
    dlclose_function *real = (dlclose_function *)pp_real(&state.real_dlclose, "dlclose");
    if (real == NULL) {
        return -1;
    }
    call_if_set(&state.events.before_unload);
    call_if_set(&state.before_dlclose);
    int result = real(handle);
    call_if_set(&state.after_dlclose);
    return result;
}

/* ---- fork ---- */

/* SIGKILL, which no mask has: in mask_before_fork it says that the thread forks, and that neither
 * handler below was called yet. */
#define FORKS (UINT64_C(1) << (SIGKILL - 1))

static void before_fork(void)
{
    pp_signal_mask old = 0;
    pp_signals_block(&old);
    if (state.events.before_fork != NULL) {
        state.events.before_fork();
    }
    mask_before_fork = old | FORKS;
}

static void after_fork_in_parent(void)
{
    mask_before_fork &= ~FORKS;
    if (state.events.after_fork_in_parent != NULL) {
        state.events.after_fork_in_parent();
    }
    pp_signals_restore(&mask_before_fork);
}

static void tell_child(void)
{
    mask_before_fork &= ~FORKS;
    state.owner_pid = pp_task_process();
    pp_dump_turn_after_fork();
    if (state.events.after_fork_in_child != NULL) {
        state.events.after_fork_in_child();
    }
}

void pp_hook_settle_fork(void)
{
    if (pp_unlikely((mask_before_fork & FORKS) != 0) && !pp_hook_is_owner()) {
        tell_child();
    }
}

static void after_fork_in_child(void)
{
    if ((mask_before_fork & FORKS) != 0) {
        tell_child();
    }
    pp_signals_restore(&mask_before_fork);
}

PP_NOT_SHOWN(before_fork);
PP_NOT_SHOWN(after_fork_in_parent);
PP_NOT_SHOWN(after_fork_in_child);

/* ---- the end ---- */

static void end_process(int status)
{
    pp_hook_tell_end(NULL);
    for (;;) {
        pp_system_call(SYS_exit_group, status);
    }
}

__attribute__((visibility("default"), noreturn)) void _exit(int status)
{
    end_process(status);
    __builtin_unreachable();
}

__attribute__((visibility("default"), noreturn)) void _Exit(int status)
{
    end_process(status);
    __builtin_unreachable();
}

static void at_quick_end(void)
{
    pp_hook_tell_end(NULL);
}

/* The destructor runs after the program's own atexit handlers, since the library was loaded before
 * they were registered. */
__attribute__((destructor)) static void at_normal_end(void)
{
    pp_hook_tell_end(NULL);
}

PP_NOT_SHOWN(at_quick_end);
PP_NOT_SHOWN(at_normal_end);

void pp_hook_process_init(const pp_process_events *wanted)
{
    pp_real(&state.real_dlclose, "dlclose");
    state.owner_pid = pp_task_process();
    state.events = *wanted;
    pp_own_work_begin(); /* musl allocates the entry of the list */
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    (void)at_quick_exit(at_quick_end); /* without memory for it quick_exit loses the profile */
    pp_own_work_end();
}
