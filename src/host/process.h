/* SPDX-License-Identifier: MIT
 *
 * process.h: the process that the library works for, and the events in its life.
 *
 *   fork, exit, _exit (process.c)                    --\
 *   dlclose, exec, prctl, signals (the other hooks)  ---> pp_hook_tell_...() --> pp_process_events
 *
 * preload.c decides what is done at an event; this room only finds out that the event happens. The
 * files of the hooks call this one; this one calls none of them (hooks.h initialises all).
 *
 * Zone: HOOK.
 * Owns: the owner's process id, and the events.
 */
#ifndef PP_HOST_PROCESS_H
#define PP_HOST_PROCESS_H

#include "base/arena.h"

#include <signal.h>
#include <stdbool.h>

/* An exec that the process is about to call: the arguments of execveat(). With `path` "" or NULL it
 * executes the file that is open as `folder`. */
typedef struct pp_exec {
    int folder;
    const char *path;
    bool search; /* along PATH */
    char *const *envp;
    pp_arena composed; /* has `envp`, if the library made it; released if the exec fails */
} pp_exec;

/*
 * before_fork           in the forking thread; all signals are blocked until fork is over
 * after_fork_in_parent  there, also if fork has failed
 * after_fork_in_child   in the child, which has this one thread
 * before_unload         before dlclose
 * before_exec           before the process, not a child of vfork, executes another program; may
 *                       replace `envp` by another environment
 * after_failed_exec     after that exec has failed
 * child_executes        a child of vfork is about to execute another program, and shares this
 *                       process's memory: `child` is 0; or posix_spawn has made the process `child`.
 *                       May use its stack and system calls only
 * leaves_library        whether a program that this process or a child of vfork is about to execute starts only
 *                       without the library, which `envp` names. May use its stack and system calls only
 * before_confinement    before the program puts itself under a seccomp filter
 * at_end                before exit, _exit, _Exit, quick_exit end the process (argument NULL), or
 *                       before a fatal signal does (the handler's ucontext_t: on any thread, at any
 *                       point). Never called in a child of vfork, whose memory is the parent's.
 */
typedef struct pp_process_events {
    void (*before_fork)(void);
    void (*after_fork_in_parent)(void);
    void (*after_fork_in_child)(void);
    void (*before_unload)(void);
    void (*before_exec)(pp_exec *exec);
    void (*after_failed_exec)(pp_exec *exec);
    void (*child_executes)(const pp_exec *exec, int child);
    bool (*leaves_library)(const pp_exec *exec);
    void (*before_confinement)(void);
    void (*at_end)(const void *interrupted);
} pp_process_events;

/* Makes the calling process the owner, and registers for its forks and its end. Called once, when
 * the library is loaded. NORMAL. */
void pp_hook_process_init(const pp_process_events *wanted);

/* From now on the hook of dlclose calls `before` ahead of each call of the program, and `after` when
 * the call is over. One pair only: a later one replaces it. */
void pp_hook_around_unload(void (*before)(void), void (*after)(void));

/* False in a child of vfork or of a raw clone, whose memory may be the parent's. */
bool pp_hook_is_owner(void);

/* ---- for the hooks: each function calls the event of its name, if there is one ---- */

/* A thread is about to be created. In a child of fork whose turn in the list of pthread_atfork has not come
 * this calls after_fork_in_child now, while the child still has one thread. */
void pp_hook_settle_fork(void);

/* Only the owner may call these two. The second one preserves errno. */
void pp_hook_tell_exec(pp_exec *exec);
void pp_hook_tell_failed_exec(pp_exec *exec);

/* Not in the owner, or, with a `child`, only there. Preserves errno. */
void pp_hook_tell_child_executes(const pp_exec *exec, int child);

/* Preserves errno. */
bool pp_hook_leaves_library(const pp_exec *exec);

/* Only in the owner. True if the event was called: from then on pp_hook_tell_end() calls nothing,
 * since every profile is written and the filter may kill even for getpid(). */
bool pp_hook_tell_confinement(void);

/* Profiles are to be written at the end again, although the program has confined itself. */
void pp_hook_expect_end(void);

/* Only in the owner. `interrupted`: see at_end. Waits if another thread's crash ends the process
 * already (crash/dump_turn.h); so does pp_hook_tell_exec(). */
void pp_hook_tell_end(const void *interrupted);

#endif
