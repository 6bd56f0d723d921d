/* SPDX-License-Identifier: MIT
 *
 * fd_hooks.h: the hooks of the functions that open and close descriptors.
 *
 *   program -> entry (in .S) -> target -> real function                     nothing is recorded
 *                                      -> pp_fd_slow -> real function, and record
 *
 * Zone: HOOK.
 * Owns: the hooks.
 */
#ifndef PP_KINDS_FD_FD_HOOKS_H
#define PP_KINDS_FD_FD_HOOKS_H

#include "arch/hook_layout.h"
#include "host/sampler.h"

#include <stdbool.h>
#include <stdint.h>

/* Which descriptors a hooked function opens and closes; kinds/fd/fd_list.h explains each. */
typedef enum pp_fd_shape {
    PP_FD_OPEN,
    PP_FD_STREAM,
    PP_FD_FOLDER,
    PP_FD_PIPE,
    PP_FD_PAIR,
    PP_FD_COPY,
    PP_FD_CONTROL,
    PP_FD_SIGNALS,
    PP_FD_MESSAGE,
    PP_FD_MESSAGES,
    PP_FD_REOPEN,
    PP_FD_CLOSE,
    PP_FD_STREAMED,
    PP_FD_FOLDED,
    PP_FD_RANGE,
    PP_FD_ABOVE
} pp_fd_shape;

/* No hooked function has more arguments than these; one with fewer ignores the rest. */
typedef long pp_fd_function(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

typedef struct pp_fd_hook {
    pp_fd_function *real;   /* NULL: not resolved yet */
    pp_fd_function *target; /* where the entry jumps to */
    pp_fd_function *slow;
    pp_fd_function *entry; /* the function that the program calls: the leaf of the stacks */
    const char *name;
    pp_fd_shape shape;
    int call; /* the system call that does the same, or -1 */
} pp_fd_hook;

PP_ASSERT_HOOK(pp_fd_hook);

/* A call of a hooked function, as the entry has put it on the stack. */
typedef struct pp_fd_call {
    uintptr_t argument[6];
    pp_fd_hook *hook;
    uintptr_t bx, fp;
    uintptr_t return_address;
} pp_fd_call;

PP_ASSERT_CALL(pp_fd_call, 6);

/* Finds the real functions. After this, no hook needs the loader. */
void pp_fd_hooks_find_real(void);

/* Makes the hooks of all threads record, or stop recording, from now on. */
void pp_fd_hooks_record(bool on);
bool pp_fd_hooks_are_recording(void);

/* Resolves the hooks before the first thread begins. */
extern const pp_sampler pp_fd_sampler;

#endif
