/* SPDX-License-Identifier: MIT
 *
 * in_handler.h: whether the calling thread is in a signal handler, ours or the program's.
 *
 * A program may end in a handler (_exit() is async-signal-safe), and we write its profiles then: on
 * that stack nothing may be called that takes locks of libc or of the loader, which the thread may
 * have.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_UNWIND_IN_HANDLER_H
#define PP_UNWIND_IN_HANDLER_H

#include <stdbool.h>

/* As far as its stack can be walked: whether it runs on the alternate one, or returns to what
 * handlers return to. */
bool pp_in_handler(void);

#endif
