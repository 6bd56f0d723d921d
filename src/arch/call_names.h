/* SPDX-License-Identifier: MIT
 *
 * call_names.h: chooses the architecture's names of system calls.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_CALL_NAMES_H
#define PP_ARCH_CALL_NAMES_H

#if defined(__x86_64__)
#include "arch/x86_64_call_names.h"
#elif defined(__aarch64__)
#include "arch/aarch64_call_names.h"
#else
#error                                                                                             \
    "libpprof has no names of system calls for this architecture yet: add src/arch/<name>_call_names.h"
#endif

#endif
