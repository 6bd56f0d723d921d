/* SPDX-License-Identifier: MIT
 *
 * in_handler.h: whether the calling thread is in a signal handler, of libpprof or of the program.
 *
 * A program may end in a handler (_exit() is async-signal-safe), and libpprof writes its profiles
 * then. The thread may hold locks of libc or of the loader, so nothing may be called there that
 * takes them.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_UNWIND_IN_HANDLER_H
#define PP_UNWIND_IN_HANDLER_H

#include <stdbool.h>

/* Whether the calling thread runs on the alternate signal stack, or its stack, as far as it can be
 * walked, returns to the code that ends handlers. */
bool pp_in_handler(void);

#endif
