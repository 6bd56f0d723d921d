/* SPDX-License-Identifier: MIT
 *
 * stubs.h: chooses the architecture's entry stubs.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_STUBS_H
#define PP_ARCH_STUBS_H

#if defined(__x86_64__)
#include "arch/x86_64_stubs.h"
#elif defined(__aarch64__)
#include "arch/aarch64_stubs.h"
#else
#error "libpprof has no entry stubs for this architecture yet: add src/arch/<name>_stubs.h"
#endif

#endif
