/* SPDX-License-Identifier: MIT
 *
 * process.c: fork, exit and unloading.
 *
 * fork() is followed through pthread_atfork, which libc's own callers (system, popen, daemon,
 * forkpty) pass as well. All signals are blocked for its length: a signal of ours that arrives
 * while the kernel copies a large address space restarts the copy, and at a high enough rate it
 * never ends.
 *
 * No lock is held over the fork: handlers that were registered before ours run after it and may
 * wait for threads of the host, which may want that lock. The child resets what it inherited
 * instead.
 *
 * A child of vfork, or of a raw clone, has not passed there; it is told by its process id.
 *
 * Zone: HOOK. _exit may be called from the host's signal handlers.
 * Owns: the owner's process id; the signal mask from before the fork (8 bytes of TLS).
 */
#include "host/process.h"

#include "arch/system_call.h"
#include "base/compiler.h"
#include "base/shown_as.h"
#include "host/real.h"
#include "sys/signal_mask.h"
#include "sys/tasks.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pp_process_events events;
static int owner_pid;
static bool nothing_to_end; /* all was written before a filter came, which may kill for getpid */
static PP_TLS pp_signal_mask mask_before_fork;

/* Not what libc remembers: a raw clone with CLONE_VM shares our memory. */
bool pp_hook_is_owner(void)
{
    return pp_task_process() == owner_pid;
}

void pp_hook_tell_end(const void *interrupted)
{
    bool over = __atomic_load_n(&nothing_to_end, __ATOMIC_RELAXED);
    if (!over && events.at_end != NULL && pp_hook_is_owner()) {
        events.at_end(interrupted);
    }
}

void pp_hook_tell_exec(pp_exec *exec)
{
    if (events.before_exec != NULL) {
        events.before_exec(exec);
    }
}

void pp_hook_tell_failed_exec(void)
{
    int saved_errno = errno;
    if (events.after_failed_exec != NULL) {
        events.after_failed_exec();
    }
    errno = saved_errno;
}

void pp_hook_before_confinement(void)
{
    if (events.before_confinement != NULL && pp_hook_is_owner()) {
        events.before_confinement();
        pp_hook_give_defaults_back();
        __atomic_store_n(&nothing_to_end, true, __ATOMIC_RELAXED);
    }
}

void pp_hook_expect_end(void)
{
    __atomic_store_n(&nothing_to_end, false, __ATOMIC_RELAXED);
}

/* ---- fork ---- */

static void before_fork(void)
{
    pp_signal_mask old = 0;
    pp_signals_block(&old);
    if (events.before_fork != NULL) {
        events.before_fork();
    }
    mask_before_fork = old;
}

static void after_fork_in_parent(void)
{
    pp_signals_restore(&mask_before_fork);
}

static void after_fork_in_child(void)
{
    owner_pid = pp_task_process();
    pp_hook_dispositions_after_fork();
    if (events.after_fork_in_child != NULL) {
        events.after_fork_in_child();
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

/* Runs after the host's own atexit handlers, since we were loaded before they were registered. */
__attribute__((destructor)) static void at_normal_end(void)
{
    pp_hook_tell_end(NULL);
}

PP_NOT_SHOWN(at_quick_end);
PP_NOT_SHOWN(at_normal_end);

/* ---- unloading ---- */

typedef int dlclose_function(void *);
static void *real_dlclose;
static void (*before_dlclose)(void);
static void (*behind_dlclose)(void);

void pp_hook_around_unload(void (*before)(void), void (*behind)(void))
{
    __atomic_store_n(&behind_dlclose, behind, __ATOMIC_RELEASE);
    __atomic_store_n(&before_dlclose, before, __ATOMIC_RELEASE);
}

static void call_if_set(void (**place)(void))
{
    void (*function)(void) = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    if (function != NULL) {
        function();
    }
}

/* Remembers what is about to go, as long as its samples have no mapping yet. */
__attribute__((visibility("default"))) int dlclose(void *handle)
{
    dlclose_function *real = (dlclose_function *)pp_real(&real_dlclose, "dlclose");
    if (real == NULL) {
        return -1;
    }
    if (events.before_unload != NULL) {
        events.before_unload();
    }
    call_if_set(&before_dlclose);
    int result = real(handle);
    call_if_set(&behind_dlclose);
    return result;
}

void pp_hook_process_init(const pp_process_events *wanted)
{
    pp_hook_dispositions_init();
    pp_hook_exec_init();
    pp_real(&real_dlclose, "dlclose");
    pp_hook_sandbox_init();
    pp_hook_alternate_stack_init();
    pp_hook_cancel_init();
    owner_pid = pp_task_process();
    events = *wanted;
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    (void)at_quick_exit(at_quick_end); /* without memory for it quick_exit loses the profile */
}
