/* SPDX-License-Identifier: MIT
 *
 * calls.h: chooses the architecture's reader of calls and prologues.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_CALLS_H
#define PP_ARCH_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#include "arch/x86_64_calls.h"
#elif defined(__aarch64__)
#include "arch/aarch64_calls.h"
#else
#error "libpprof cannot read the calls of this architecture yet: add src/arch/<name>_calls.h"
#endif

#endif
