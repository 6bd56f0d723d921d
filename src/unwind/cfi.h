/* SPDX-License-Identifier: MIT
 *
 * cfi.h: from call-frame information to the rule of one PC.
 *
 *   pc --binary search--> .eh_frame_hdr table --> FDE --> CIE
 *                                                  |       |
 *                     rule <-- row at pc <-- run the CFA programs of both
 *
 * Formats: Linux Standard Base Core 5.0, section 10.6 (.eh_frame, .eh_frame_hdr); DWARF 5,
 * section 6.4 (CFA programs). All bytes are untrusted: every read is bounded, every loop ends.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_UNWIND_CFI_H
#define PP_UNWIND_CFI_H

#include "unwind/image.h"
#include "unwind/rule.h"

/* What pp_cfi_rule() works in; needs no initialisation. */
typedef struct pp_cfi_space {
    uint64_t words[288];
} pp_cfi_space;

/*
 * The rule for the instruction at `pc` (for a caller: of its call, the return address minus 1) from
 * the CFI of `image`. kind PP_RULE_NONE if the image has no CFI for it, or CFI that cannot be used.
 */
void pp_cfi_rule(const pp_image *image, uintptr_t pc, pp_cfi_space *space, pp_rule *rule);

/* Likewise, in a space that has served before, in the same walk: no module of the walk's frames can
 * have changed since, and what was read of them is used again. */
void pp_cfi_next_rule(const pp_image *image, uintptr_t pc, pp_cfi_space *space, pp_rule *rule);

/* The first instruction of the function (or part of one) whose CFI covers `pc`; 0 if there
 * is none. */
uintptr_t pp_cfi_function(const pp_image *image, uintptr_t pc, pp_cfi_space *space);

#endif
