/* SPDX-License-Identifier: MIT
 *
 * process.h: knows when the process forks, unloads a library, or ends.
 *
 * What is to be done then is decided above (preload.c); this room only finds out that it happens.
 *
 * Zone: HOOK.
 * Owns: the handlers of SIGTERM and SIGINT, where their action was the default one.
 */
#ifndef PP_HOST_PROCESS_H
#define PP_HOST_PROCESS_H

#include <signal.h>
#include <stdbool.h>

/*
 * before_fork           in the forking thread; all signals are blocked until fork is over
 * after_fork_in_child   in the child, which has this one thread
 * before_unload         before dlclose
 * before_exec           before the process, not a child of vfork, executes another program; may put another
 *                       environment in the place of `envp`
 * after_failed_exec     when it goes on after all
 * before_confinement    before the host puts itself under a seccomp filter
 * at_end                before exit, _exit, _Exit, quick_exit end the process (NULL), or a fatal
 *                       signal does (the handler's ucontext_t: on whatever thread, at whatever point).
 *                       Never called in a child of vfork, whose memory is the parent's.
 */
typedef struct pp_exec {
    int folder; /* as the arguments of execveat(); path "" or NULL: what is open as `folder` */
    const char *path;
    bool search; /* along PATH */
    char *const *envp;
} pp_exec;

typedef struct pp_process_events {
    void (*before_fork)(void);
    void (*after_fork_in_child)(void);
    void (*before_unload)(void);
    void (*before_exec)(pp_exec *exec);
    void (*after_failed_exec)(void);
    void (*before_confinement)(void);
    void (*at_end)(const void *interrupted);
} pp_process_events;

/* Called once when the library is loaded. */
void pp_hook_process_init(const pp_process_events *wanted);

/*
 * From now on SIGTERM and SIGINT, where their action is the default one, call at_end first and are
 * then raised again, so that the parent sees the signal. A host that asks for their action is still
 * told SIG_DFL; one that sets its own handler replaces ours.
 */
void pp_hook_fatal_signals(void);

/*
 * From now on SIGIO, where its action is the default one, does not end the process if the kernel
 * sends it. Needed before the first perf event: where the queue of signals is full
 * (RLIMIT_SIGPENDING), the kernel sends SIGIO in the place of the event's own signal.
 */
void pp_hook_overflow_signal(void);

/* ---- within this room ---- */

/* SIGTERM and its like are as the host has them again: what stands in for them cannot work under
 * its filter. */
void pp_hook_give_defaults_back(void);

void pp_hook_sandbox_init(void);

/* libc's syscall(), unless the host confines itself by it. */
long pp_hook_syscall(long number, long a, long b, long c, long d, long e, long f);

void pp_hook_alternate_stack_init(void);
void pp_hook_cancel_init(void);
void pp_hook_dispositions_init(void);
void pp_hook_dispositions_after_fork(void);
void pp_hook_exec_init(void);
void pp_hook_before_confinement(void);

/* From now on each dlclose of the program has the one called before it, and the other behind it. */
void pp_hook_around_unload(void (*before)(void), void (*behind)(void));

/* False in a child of vfork or of a raw clone, whose memory may be the parent's. */
bool pp_hook_is_owner(void);

/* at_end has something to do again, although the host has confined itself. */
void pp_hook_expect_end(void);

/* before_exec and after_failed_exec, by the process that they belong to. */
void pp_hook_tell_exec(pp_exec *exec);
void pp_hook_tell_failed_exec(void);

/* at_end, if this is the process that it belongs to. */
void pp_hook_tell_end(const void *interrupted);

#endif
