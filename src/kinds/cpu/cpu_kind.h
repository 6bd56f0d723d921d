/* SPDX-License-Identifier: MIT
 *
 * cpu_kind.h: what the program or its user asks of the CPU profile, for tests.
 *
 * Zone: NORMAL.
 * Locks: those of kind.h.
 */
#ifndef PP_KINDS_CPU_CPU_KIND_H
#define PP_KINDS_CPU_CPU_KIND_H

#include "kinds/cpu/cpu_control.h"

typedef struct pp_cpu_wish {
    pp_cpu_request request;
    int toggle_signal; /* starts and stops the profile; 0 = none */
    bool is_shared;    /* others may have profiles of the same time (cpu_share.c) */
} pp_cpu_wish;

extern pp_cpu_wish pp_cpu_asked;

#endif
