/* SPDX-License-Identifier: MIT
 *
 * frames_debug_only.c: unwind information for debuggers only, in .debug_frame, which is not loaded.
 *
 * Flags: -fno-asynchronous-unwind-tables -fno-unwind-tables
 */
#include "frames.h"
