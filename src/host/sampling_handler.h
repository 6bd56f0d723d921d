/* SPDX-License-Identifier: MIT
 *
 * sampling_handler.h: the owner of the sampling signal (sys/sampling_signal.h).
 *
 * Zone: SIGNAL; install and reinstall are NORMAL.
 * Locks: one of its own.
 * Owns: the action of that signal, from the first start to the end of the process.
 */
#ifndef PP_HOST_SAMPLING_HANDLER_H
#define PP_HOST_SAMPLING_HANDLER_H

#include <stdbool.h>

/*
 * Takes over the sampling signal, and opens it in the calling thread. SA_RESTART; SA_ONSTACK, since
 * the stacks of coroutines and goroutines have no room for a signal, and their threads have an
 * alternate one. A signal that is none of ours is passed on to libc's handler, or ends the process
 * as it would without us. Once installed the handler stays: a late signal must find one. 0 or
 * -errno. NORMAL.
 */
int pp_sampling_handler_install(void);

/* libc may have put its own handler there (pthread_cancel). Ours comes back, if it ever was there.
 * NORMAL. */
void pp_sampling_handler_reinstall(void);

/* libc's handler comes back for a moment, until as many have stepped back as aside. Signals of ours
 * that strike then are lost. NORMAL. */
void pp_sampling_handler_step_aside(void);
void pp_sampling_handler_step_back(void);

/* Whether the handler is (still) ours, as the kernel sees it. */
bool pp_sampling_handler_installed(void);

/* In the handler, whose ucontext_t it is: whether the stack that it runs on has room for a walk. */
bool pp_sampling_has_room(const void *context);

/* In the child of fork. The handler stays. */
void pp_sampling_handler_after_fork_in_child(void);

#endif
