/* SPDX-License-Identifier: MIT
 *
 * function.h: where a function begins, by its call-frame information.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_UNWIND_FUNCTION_H
#define PP_UNWIND_FUNCTION_H

#include "unwind/walk_space.h"

#include <stdint.h>

/* The first instruction of the function that has the instruction at `address`; 0 if there is no
 * call-frame information for it. */
uintptr_t pp_function_of(uintptr_t address);
/* pp_function_of() in `target`, or in this process if that is NULL, with the space of a walk that is
 * over, for callers that have little stack. */
uintptr_t pp_function_within(const pp_walk_target *target, uintptr_t address, pp_walk_space *space);

#endif
