/* SPDX-License-Identifier: MIT
 *
 * explain.h: what call-frame information says of an address that is on no stack: its function, and
 * its rule in words, so that a reader can compare it with `readelf --debug-dump=frames-interp`.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_UNWIND_EXPLAIN_H
#define PP_UNWIND_EXPLAIN_H

#include "base/text.h"
#include "unwind/walk_space.h"

#include <stdint.h>

/* The first instruction of the function that has the instruction at `address`; 0 if there is no
 * call-frame information for it. */
uintptr_t pp_function_of(uintptr_t address);
/* pp_function_of() in `target`, or in this process if that is NULL, with the space of a walk that is
 * over, for callers that have little stack. */
uintptr_t pp_function_within(const pp_walk_target *target, uintptr_t address, pp_walk_space *space);

/*
 * Adds "the FDE of 0x1200-0x1310 says: CFA = rbp+16, return address at CFA-8, rbp at CFA-16, rbx
 * unchanged" for the frame whose stored PC is `pc` (return-like); nothing if there is no FDE. The
 * addresses count from `bias`. The rule is computed now, in `space`. `target` is NULL for this
 * process.
 */
void pp_explain_rule(const pp_walk_target *target, uintptr_t pc, uintptr_t bias,
                     pp_walk_space *space, pp_text *text);

/* Adds "0x" and the number in hexadecimal. */
void pp_explain_address(uintptr_t address, pp_text *text);

#endif
