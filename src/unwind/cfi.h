/* SPDX-License-Identifier: MIT
 *
 * cfi.h: the rule of one PC, from call-frame information.
 *
 *   pc --cfi_entry.h--> FDE, CIE --> run the CFA programs of both --> row at pc --> rule
 *
 * Format: DWARF 5, section 6.4 (CFA programs). All bytes are untrusted: every read is bounded,
 * every loop ends.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_UNWIND_CFI_H
#define PP_UNWIND_CFI_H

#include "unwind/image.h"
#include "arch/rule.h"

/* The memory in which rules are computed. It keeps the CFI that one rule needed, since the next
 * rule of the same walk often needs it too. */
typedef struct pp_cfi_space {
    uint64_t words[288];
} pp_cfi_space;

/* Empties a space: before its first rule, and before a rule of an image whose bytes or bounds may
 * have changed since the one before. */
void pp_cfi_open(pp_cfi_space *space);

/*
 * The rule for the instruction at `pc` (for a caller: of its call, the return address minus 1) from
 * the CFI of `image`. kind PP_RULE_NONE, and the reason, if
 * the image has no CFI for it, or CFI that cannot be used.
 */
void pp_cfi_rule(const pp_image *image, uintptr_t pc, pp_cfi_space *space, pp_rule *rule);

/* The code of a function, or of a part of one. */
typedef struct pp_function_range {
    uintptr_t start, limit;
} pp_function_range;

/* The code that the FDE of `pc` covers; {0, 0} if there is none. */
pp_function_range pp_cfi_function(const pp_image *image, uintptr_t pc, pp_cfi_space *space);

#endif
