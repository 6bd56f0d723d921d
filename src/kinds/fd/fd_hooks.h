/* SPDX-License-Identifier: MIT
 *
 * fd_hooks.h: the hooks of what opens and closes descriptors.
 *
 *   program -> entry (arch/) -> target -> real function                       nothing is recorded
 *                                      -> pp_descriptor_slow -> real function, and record
 *
 * Zone: HOOK.
 * Owns: the hooks.
 */
#ifndef PP_KINDS_FD_FD_HOOKS_H
#define PP_KINDS_FD_FD_HOOKS_H

#include "host/sampler.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum pp_descriptor_shape { /* arch/fd_list.h */
                                   PP_DESCRIPTOR_OPEN,
                                   PP_DESCRIPTOR_STREAM,
                                   PP_DESCRIPTOR_FOLDER,
                                   PP_DESCRIPTOR_PIPE,
                                   PP_DESCRIPTOR_PAIR,
                                   PP_DESCRIPTOR_COPY,
                                   PP_DESCRIPTOR_CONTROL,
                                   PP_DESCRIPTOR_SIGNALS,
                                   PP_DESCRIPTOR_MESSAGE,
                                   PP_DESCRIPTOR_MESSAGES,
                                   PP_DESCRIPTOR_REOPEN,
                                   PP_DESCRIPTOR_CLOSE,
                                   PP_DESCRIPTOR_STREAMED,
                                   PP_DESCRIPTOR_FOLDED,
                                   PP_DESCRIPTOR_RANGE,
                                   PP_DESCRIPTOR_ABOVE
} pp_descriptor_shape;

/* No hooked function has more arguments, and those that have fewer do not look at the rest. */
typedef long pp_descriptor_function(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                                    uintptr_t);

/* The second member is known to the entries. */
typedef struct pp_descriptor_hook {
    pp_descriptor_function *real;   /* NULL: not resolved yet */
    pp_descriptor_function *target; /* where the entry goes */
    pp_descriptor_function *slow;
    pp_descriptor_function *entry; /* what the program calls: the leaf of the stacks */
    const char *name;
    pp_descriptor_shape shape;
    int call; /* the system call that does the same, or -1 */
} pp_descriptor_hook;

/* What the entry has put on the stack. */
typedef struct pp_descriptor_call {
    uintptr_t argument[6];
    pp_descriptor_hook *hook;
    uintptr_t bx, fp;
    uintptr_t return_address;
} pp_descriptor_call;

/* Whether hooks record, in all threads from now on. */
void pp_hook_descriptors_record(bool on);

extern const pp_sampler pp_fd_sampler;

#endif
