/* SPDX-License-Identifier: MIT
 *
 * cpu_share.h: CPU profiles of several times, which may overlap, from one sampler.
 *
 *   sampler    |==============================|
 *   request 1  |--------------|                   counts at its end
 *   request 2          |----------------------|   counts at its end minus those at its begin
 *   so far      .................|                 counts since the sampler started
 *
 * Zone: NORMAL.
 * Locks: the session lock of cpu_control.c.
 */
#ifndef PP_KINDS_CPU_CPU_SHARE_H
#define PP_KINDS_CPU_CPU_SHARE_H

#include "host/kind.h"

extern const pp_timed_profile pp_cpu_timed_profile;

#endif
