/* SPDX-License-Identifier: MIT
 *
 * spin.h: what a thread does between two attempts while it waits for another processor.
 *
 *   pp_spin_hint()   tells the processor that the loop waits; it may run something else meanwhile
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_SPIN_H
#define PP_ARCH_SPIN_H

#if defined(__x86_64__)
#include "arch/x86_64_spin.h"
#else
#error "libpprof has no hint for waiting loops of this architecture yet: add src/arch/<name>_spin.h"
#endif

#endif
