/* SPDX-License-Identifier: MIT
 *
 * function.h: where a function begins, as its call-frame information says.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_UNWIND_FUNCTION_H
#define PP_UNWIND_FUNCTION_H

#include "unwind/walk_space.h"

#include <stdint.h>

/* The first instruction of the function that the instruction at `address` is in; 0 if
 * nobody knows. */
uintptr_t pp_function_of(uintptr_t address);
/* With the space of a walk that is over, for those who have little stack. */
uintptr_t pp_function_within(uintptr_t address, pp_walk_space *space);

#endif
