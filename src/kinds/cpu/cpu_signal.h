/* SPDX-License-Identifier: MIT
 *
 * cpu_signal.h: the CPU profile's share in the handler of the sampling signal
 * (host/sampling_handler.h).
 *
 * Zone: SIGNAL.
 */
#ifndef PP_KINDS_CPU_CPU_SIGNAL_H
#define PP_KINDS_CPU_CPU_SIGNAL_H

#include "host/sampler.h"

extern const pp_sampler pp_cpu_sampler;

#endif
