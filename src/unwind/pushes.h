/* SPDX-License-Identifier: MIT
 *
 * pushes.h: functions that push registers without CFI for it.
 *
 * The call-frame information of an assembler function may be empty: by it the frame stays, to the
 * function's end, what it was at the first instruction. That cannot be true if the first
 * instruction is a push. glibc has two such functions, __mpn_addmul_1 and __mpn_submul_1, in which
 * printf and strtod of floating point spend their time. Of 35 000 functions of a dozen libraries no
 * other function begins like this.
 *
 *   start   push ... push        n pushes: SP is n words lower from there on
 *           body
 *           pop ... pop ret      SP is as many words lower as there are pops left
 *
 * Zone: SIGNAL.
 */
#ifndef PP_UNWIND_PUSHES_H
#define PP_UNWIND_PUSHES_H

#include "arch/rule.h"
#include "sys/safe_read.h"

#include <stdint.h>

/* Corrects the rule of `pc` in `memory`, if the function begins with a push. rule->silent is not 0. */
void pp_pushes_apply(const pp_memory *memory, uintptr_t pc, pp_rule *rule);

#endif
