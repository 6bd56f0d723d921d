/* SPDX-License-Identifier: MIT
 *
 * function.h: where a function begins, as its call-frame information says.
 *
 * Zone: SIGNAL.
 * Locks: none.
 * Owns: nothing.
 */
#ifndef PP_UNWIND_FUNCTION_H
#define PP_UNWIND_FUNCTION_H

#include <stdint.h>

/* The first instruction of the function that the instruction at `address` is in; 0 if nobody knows. */
uintptr_t pp_function_of(uintptr_t address);

#endif
