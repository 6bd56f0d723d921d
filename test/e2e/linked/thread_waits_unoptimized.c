/* SPDX-License-Identifier: MIT
 *
 * thread_waits_unoptimized.c: thread_waits.c, in code that stands on frame pointers.
 *
 * Flags: -O0 -fno-omit-frame-pointer
 */
#include "thread_waits.c" /* NOLINT(bugprone-suspicious-include) */
