/* SPDX-License-Identifier: MIT
 *
 * compiler.h: the compiler attributes that the project uses, each with its reason.
 *
 * Zone: SIGNAL (macros only).
 */
#ifndef PP_BASE_COMPILER_H
#define PP_BASE_COMPILER_H

#include "libc/tls.h"

#define pp_likely(condition)   __builtin_expect(!!(condition), 1)
#define pp_unlikely(condition) __builtin_expect(!!(condition), 0)

/* For functions that read other functions' stack frames or race on purpose: hides this from ASan
 * and TSan. */
#define PP_RAW_MEMORY __attribute__((no_sanitize("address", "thread", "undefined")))

/* Keeps a rare path out of a hot loop, so that the loop keeps its registers. */
#define PP_COLD_PATH __attribute__((noinline, cold))

/* A variable of the thread that a signal handler may use: the general-dynamic model may call malloc at its first use. */
#define PP_TLS __thread __attribute__((tls_model(PP_TLS_MODEL)))

#endif
