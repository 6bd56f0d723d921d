/* SPDX-License-Identifier: MIT
 *
 * hooks.h: all files of this room that define functions of libc, from above.
 *
 *   preload.c --> hooks.c --> threads.c, dispositions.c, exec.c, unload.c, confinement.c,
 *                             identity.c, groups_shared.c, alternate_stack.c, cancel.c --> process.c --> events of preload.c
 *
 * Zone: NORMAL.
 */
#ifndef PP_HOST_HOOKS_H
#define PP_HOST_HOOKS_H

#include "host/process.h"

/* Finds the real functions, and follows the process (process.h) and the calling thread from now
 * on. Called once, when the library is loaded. */
void pp_hooks_init(const pp_process_events *wanted);

/* In the child of fork: the hooks' locks are free. */
void pp_hooks_after_fork(void);

#endif
