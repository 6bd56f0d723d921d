/* SPDX-License-Identifier: MIT
 *
 * pushes.c: counts the pushes before a PC, or the pops after it.
 *
 * Zone: SIGNAL.
 */
#include "unwind/pushes.h"

#include "arch/calls.h"
#include "arch/registers.h"
#include "base/compiler.h"

#include <stddef.h>

enum { WORD = sizeof(uintptr_t) };

/* The number of pops from `pc` to a return; 0 if another instruction comes first. */
static unsigned pops_ahead(const pp_memory *memory, uintptr_t pc)
{
    uint8_t code[PP_PUSHES_BYTES];
    size_t at = 0;
    unsigned pops = 0;
    if (!pp_memory_copy(memory, code, pc, sizeof code)) {
        return 0;
    }
    while (pp_pop_at(code, &at) != PP_NO_REGISTER) {
        pops++;
    }
    return at + PP_RETURN_BYTES <= sizeof code && pp_is_return(code + at) ? pops : 0;
}

static bool is_at_return(const pp_memory *memory, uintptr_t pc)
{
    uint8_t code[PP_RETURN_BYTES];
    return pp_memory_copy(memory, code, pc, sizeof code) && pp_is_return(code);
}

static void save(pp_rule *rule, int reg, unsigned push)
{
    pp_where where = {.kind = PP_WHERE_CFA, .offset = -WORD * (int32_t)(push + 2)};
    if (reg == PP_REG_FP) {
        rule->fp = where;
    } else if (reg == PP_REG_BX) {
        rule->bx = where;
    }
}

PP_COLD_PATH void pp_pushes_apply(const pp_memory *memory, uintptr_t pc, pp_rule *rule)
{
    uint8_t code[PP_PUSHES_BYTES];
    uintptr_t done = rule->silent - 1u; /* bytes of the function before pc */
    size_t at = 0;
    unsigned pushed = 0;
    if (done == 0 || !pp_memory_copy(memory, code, pc - done, sizeof code)) {
        return;
    }
    while (at < done && pp_push_at(code, &at) != PP_NO_REGISTER) {
        pushed++;
    }
    if (pushed == 0 || is_at_return(memory, pc)) {
        return;
    }
    unsigned pops = at < done ? pops_ahead(memory, pc) : 0;
    unsigned held = pops != 0 && pops < pushed ? pops : pushed;
    at = 0;
    for (unsigned i = 0; i < held; i++) {
        save(rule, pp_push_at(code, &at), i);
    }
    rule->cfa_offset += WORD * (int32_t)held;
}
