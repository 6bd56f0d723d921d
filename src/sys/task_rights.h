/* SPDX-License-Identifier: MIT
 *
 * task_rights.h: what the kernel allows to a thread, beyond its user's rights.
 *
 * Zone: SIGNAL (system calls only).
 */
#ifndef PP_SYS_TASK_RIGHTS_H
#define PP_SYS_TASK_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>

enum { PP_TASK_CAPABILITY_WORDS = 6 /* effective, permitted, inheritable; twice */ };

typedef struct pp_task_capabilities {
    uint32_t words[PP_TASK_CAPABILITY_WORDS];
} pp_task_capabilities;

/* Reads the capabilities of thread `tid`, 0: the calling one. False: the thread is gone, or the
 * call is forbidden. */
bool pp_task_capabilities_read(int tid, pp_task_capabilities *capabilities);

/* The calling thread's securebits, which say what becomes of capabilities when the user changes
 * (PR_SET_KEEPCAPS is one of them). */
long pp_task_secure_bits(void);

#endif
