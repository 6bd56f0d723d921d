/* SPDX-License-Identifier: MIT
 *
 * hooks.h: the files of this room that define functions of libc, and what others call in them.
 *
 *   preload.c --> hooks.c --> threads.c, dispositions.c, exec.c, confinement.c, identity.c,
 *                             groups_shared.c, alternate_stack.c, cancel.c --> process.c --> events of preload.c
 *
 * Zone: HOOK, except where NORMAL is written.
 */
#ifndef PP_HOST_HOOKS_H
#define PP_HOST_HOOKS_H

#include "host/process.h"
#include "sys/signal_mask.h"

#include <stdbool.h>

/* Finds the real functions, and follows the process (process.h) and the calling thread from now
 * on. Called once, when the library is loaded. NORMAL. */
void pp_hooks_init(const pp_process_events *wanted);

/* In the child of fork: the hooks' locks are free. NORMAL. */
void pp_hooks_after_fork(void);

/* ---- the hooks: each function is called once, by pp_hooks_init() ---- */

void pp_hook_alternate_stack_init(void); /* sigaltstack */
void pp_hook_cancel_init(void);          /* pthread_cancel */
void pp_hook_confinement_init(void);     /* prctl, syscall */
void pp_hook_exec_init(void);            /* the exec functions, posix_spawn */
void pp_hook_identity_init(void);        /* setuid and its kin, capset, unshare, setns */
void pp_hook_threads_init(void);         /* pthread_create, thrd_create; makes a pthread key */

/* ---- threads.c ---- */

/* The calling thread becomes libpprof's own: no profile shows it. Its end is seen, although it may
 * have been created past our hooks. NORMAL. */
void pp_hook_thread_leave(void);

/* ---- confinement.c ---- */

/* Calls libc's syscall(), and first ends the profiles if the program confines itself by this
 * call. The hook of syscall is beside kinds/contention/futex.c. */
long pp_hook_syscall(long number, long a, long b, long c, long d, long e, long f);

/* ---- identity.c ---- */

typedef struct pp_identity_change {
    bool hides_again; /* libc did not know of ours (modules/single_thread.h) */
    bool pauses;
    pp_signal_mask mask; /* of the caller, from before, as is the next one */
    int cancel_state;
} pp_identity_change;

/* Around a call that changes the identity of all threads, in libc: pauses the library's own if they
 * differ from the caller. The second one preserves errno. NORMAL. */
void pp_identity_begin(pp_identity_change *change);
void pp_identity_end(const pp_identity_change *change);

/* Likewise around any system call, whose number and first arguments these are; pauses if need be.
 * NORMAL. */
void pp_identity_begin_call(pp_identity_change *change, long number, long a, long b);

#endif
