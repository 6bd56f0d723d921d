/* SPDX-License-Identifier: MIT
 *
 * sampling_handler.h: the handler of the sampling signal (sys/sampling_signal.h).
 *
 * Zone: SIGNAL, except where NORMAL is written.
 * Locks: one, for changing the action.
 * Owns: the action of that signal, from the first start to the end of the process, or of an attachment.
 */
#ifndef PP_HOST_SAMPLING_HANDLER_H
#define PP_HOST_SAMPLING_HANDLER_H

#include <stdbool.h>

/*
 * Installs our handler of the sampling signal, and unblocks the signal in the calling thread. The
 * action has SA_RESTART, and SA_ONSTACK: the stacks of coroutines and goroutines have no room for a
 * signal, and their threads have an alternate stack. A signal that is none of ours goes to libc's
 * handler, or ends the process as it would without this library. The handler stays for ever: a late
 * signal must find it. 0 or -errno. NORMAL.
 */
int pp_sampling_handler_install(void);

/* Installs our handler again, if it was installed once: libc may have replaced it by its own
 * (pthread_cancel). NORMAL. */
void pp_sampling_handler_reinstall(void);

/* At the end of an attachment: restores libc's action. The caller has ended everything that sends the
 * signal; this waits until none is pending. False if a thread has not taken one that is pending for
 * it: the handler stays then. NORMAL. */
bool pp_sampling_handler_end(void);

/* step_aside() restores libc's action for a moment. Our handler returns when step_back() was called
 * as often as step_aside(). Signals of ours that strike meanwhile are lost. NORMAL. */
void pp_sampling_handler_step_aside(void);
void pp_sampling_handler_step_back(void);

/* Whether the kernel's present action is our handler. */
bool pp_sampling_handler_installed(void);

/* Whether the stack on which the handler runs has room for a walk. `context`: the handler's
 * ucontext_t. */
bool pp_sampling_has_room(const void *context);

/* In the child of fork. The handler stays. */
void pp_sampling_handler_after_fork_in_child(void);

#endif
