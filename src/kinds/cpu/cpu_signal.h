/* SPDX-License-Identifier: MIT
 *
 * cpu_signal.h: the CPU profile's part in the handler of the sampling signal
 * (host/sampling_handler.h), and in what happens to threads.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_KINDS_CPU_CPU_SIGNAL_H
#define PP_KINDS_CPU_CPU_SIGNAL_H

#include "host/sampler.h"

extern const pp_sampler pp_cpu_sampler;

#endif
