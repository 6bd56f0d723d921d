/* SPDX-License-Identifier: MIT
 *
 * signal_frame.h: chooses the architecture's signal frame.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_SIGNAL_FRAME_H
#define PP_ARCH_SIGNAL_FRAME_H

#include <stddef.h>

/* Handlers that the library installs without libc return here (SA_RESTORER). */
extern void pp_signal_return(void);

#if defined(__x86_64__)
#include "arch/x86_64_signal_frame.h"
#elif defined(__aarch64__)
#include "arch/aarch64_signal_frame.h"
#else
#error "libpprof knows no signal frame of this architecture yet: add src/arch/<name>_signal_frame.h"
#endif

#endif
