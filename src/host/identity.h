/* SPDX-License-Identifier: MIT
 *
 * identity.h: the hooks of calls that change the program's user, groups, capabilities or
 * namespaces.
 *
 * Zone: NORMAL.
 */
#ifndef PP_HOST_IDENTITY_H
#define PP_HOST_IDENTITY_H

#include "sys/signal_mask.h"

#include <stdbool.h>

typedef struct pp_identity_change {
    bool pauses;
    pp_signal_mask mask; /* of the caller, from before, as is the next one */
    int cancel_state;
} pp_identity_change;

/* Around a call that changes the identity of all threads, in libc: pauses the library's own if they
 * differ from the caller. The second one preserves errno. */
void pp_identity_begin(pp_identity_change *change);
void pp_identity_end(const pp_identity_change *change);

/* Likewise around any system call, whose number and first arguments these are; pauses if need be. */
void pp_identity_begin_call(pp_identity_change *change, long number, long a, long b);

/* Called once when the library is loaded. */
void pp_hook_identity_init(void);

#endif
