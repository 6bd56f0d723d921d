/* SPDX-License-Identifier: MIT
 *
 * endings.h: where those functions of libc begin that end the program.
 *
 * A frame of a function without unwind tables is left by what its code does up to a return (unwind/flow.h). One
 * that never returns is left by what its code has done since its begin, so that has to be known. glibc has unwind
 * tables. musl has none, but few such functions.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_MODULES_ENDINGS_H
#define PP_MODULES_ENDINGS_H

#include <stdint.h>

/* Returns the begin of the function that `pc` may be in; 0: none. Defined in one of two files: endings_glibc.c, or
 * endings_musl.c. */
uintptr_t pp_ending_before(uintptr_t pc);

#endif
