/* SPDX-License-Identifier: MIT
 *
 * flow.h: the rule of a PC in code without call-frame information, from the code itself.
 *
 * musl is built without unwind tables, and so is some assembler (on aarch64 libcrypto's, and linkage stubs).
 * This code follows the instructions from the PC to a return, as the processor would, and adds up what they do to the stack pointer:
 *
 *   pc:  call  *%rax            a call leaves sp where it was
 *        test  %eax, %eax
 *        je    1f               one way, then the other, until one arrives at a return
 *        add   $24, %rsp        sp + 24
 *        pop   %rbx             rbx is at sp + 24; sp + 32
 *        ret                    the return address is at sp + 32: CFA = sp + 40
 *
 * Where a call leaves the return address in a register, the place of that register is followed likewise.
 *
 * Compiled code leaves a function in the same state on all ways, so one is enough. A way ends at a call
 * that never returns (exit, abort): what follows it may be another function. So the code that is
 * called is followed as well, until one return is seen. The rule depends on the code alone, as one
 * of CFI does.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_UNWIND_FLOW_H
#define PP_UNWIND_FLOW_H

#include "arch/rule.h"
#include "sys/safe_read.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes that pp_flow_rule() works in. They need no initialisation. */
enum { PP_FLOW_SPACE = 2304 };

typedef enum pp_flow_end {
    PP_FLOW_RETURNS, /* *rule is written; else it is unchanged */
    PP_FLOW_NEVER,   /* no way leads to a return */
    PP_FLOW_UNKNOWN  /* it cannot be told */
} pp_flow_end;

/* Finds the rule at `pc`, the next instruction: after a call its return address. */
pp_flow_end pp_flow_rule(const pp_memory *memory, uintptr_t pc, void *space, pp_rule *rule);

/* The same in a function that begins at `begin` and need not return: the instructions are followed from there to `pc`.
 * PP_FLOW_RETURNS: they lead there. After a call that never returns, `pc` belongs to the function as a return address
 * only: an instruction that a thread is about to execute there is another function's. */
pp_flow_end pp_flow_rule_since(const pp_memory *memory, uintptr_t begin, uintptr_t pc,
                               bool is_return_address, void *space, pp_rule *rule);

#endif
