/* SPDX-License-Identifier: MIT
 *
 * pushes.h: functions that push registers and do not say so.
 *
 * Assembler may have call-frame information that is empty: it says that the frame is what it was at
 * the function's first instruction, all the way. Where that instruction is a push it cannot be
 * true. glibc has two of these, __mpn_addmul_1 and __mpn_submul_1, in which printf and strtod of
 * floating point spend their time; of 35 000 functions of a dozen libraries no other one begins
 * like this.
 *
 *   start   push ... push        n of them: SP is n words lower from there on
 *           body
 *           pop ... pop ret      as many words lower as there are pops left
 *
 * Zone: SIGNAL.
 */
#ifndef PP_UNWIND_PUSHES_H
#define PP_UNWIND_PUSHES_H

#include "unwind/rule.h"

#include <stdint.h>

/* Mends the rule of `pc`, whose rule->silent is not 0, if the function begins with a push. */
void pp_pushes_apply(uintptr_t pc, pp_rule *rule);

#endif
