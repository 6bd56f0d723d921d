/* SPDX-License-Identifier: MIT
 *
 * interruptions.h: what becomes of a system call in which a thread is stopped.
 *
 * The kernel ends the call, and begins it again when the thread goes on. The program does not see
 * that, if the call had done nothing yet, and waits no longer than it would have. Other calls end
 * with a part of their work (write, sendmsg, recv with MSG_WAITALL), or must not begin again
 * (close).
 */
#ifndef PP_REMOTE_INTERRUPTIONS_H
#define PP_REMOTE_INTERRUPTIONS_H

#include "sys/task_state.h"

#include <stdint.h>

typedef enum pp_interruption {
    PP_INTERRUPTION_EXACT,     /* as if nothing had been */
    PP_INTERRUPTION_BY_KERNEL, /* the kernel remembers how long the thread still waits */
    PP_INTERRUPTION_INEXACT,   /* the time that it waits begins anew */
    PP_INTERRUPTION_CUT        /* the program sees it; also calls that are not known here */
} pp_interruption;

pp_interruption pp_interruption_of(long call, const uintptr_t argument[PP_TASK_ARGUMENTS]);

#endif
