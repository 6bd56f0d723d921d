/* SPDX-License-Identifier: MIT
 *
 * pushes.c: counts the pushes before a PC, or the pops after it.
 *
 * Encodings: Intel SDM, volume 2, PUSH, POP, RET.
 *
 * Zone: SIGNAL.
 */
#include "unwind/pushes.h"

#include "arch/registers.h"
#include "base/compiler.h"
#include "sys/safe_read.h"

#include <stddef.h>

enum {
    CODE_BYTES = 16, /* pushes of six registers, four of them with a prefix, and what follows */
    WORD = 8,
    OP_PUSH = 0x50, /* + register */
    OP_POP = 0x58,
    OP_RET = 0xc3,
    PREFIX_R8_TO_R15 = 0x41,
    NO_REGISTER = -1
};

/* DWARF's numbers of rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, in the order of encodings. */
static const uint8_t dwarf_numbers[] = {0, 2, 1, PP_REG_BX, PP_REG_SP, PP_REG_FP, 4, 5};

/* Decodes the push or pop at code[*at], and moves *at past it. Returns its register; NO_REGISTER if
 * the instruction is another one. */
static int take(const uint8_t code[CODE_BYTES], size_t *at, uint8_t operation)
{
    size_t i = *at;
    if (i + 1 >= CODE_BYTES) {
        return NO_REGISTER;
    }
    unsigned extended = code[i] == PREFIX_R8_TO_R15;
    unsigned reg = (unsigned)code[i + extended] - operation;
    if (reg > 7) {
        return NO_REGISTER;
    }
    *at = i + extended + 1;
    return extended ? 8 + (int)reg : dwarf_numbers[reg];
}

/* The number of pops from `pc` to a return; 0 if another instruction comes first. */
static unsigned pops_ahead(uintptr_t pc)
{
    uint8_t code[CODE_BYTES];
    size_t at = 0;
    unsigned pops = 0;
    if (!pp_safe_copy(code, pc, sizeof code)) {
        return 0;
    }
    while (take(code, &at, OP_POP) != NO_REGISTER) {
        pops++;
    }
    return code[at] == OP_RET ? pops : 0;
}

static bool is_at_return(uintptr_t pc)
{
    uint8_t code = 0;
    return pp_safe_copy(&code, pc, sizeof code) && code == OP_RET;
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

PP_COLD_PATH void pp_pushes_apply(uintptr_t pc, pp_rule *rule)
{
    uint8_t code[CODE_BYTES];
    uintptr_t done = rule->silent - 1u; /* bytes of the function before pc */
    size_t at = 0;
    unsigned pushed = 0;
    if (done == 0 || !pp_safe_copy(code, pc - done, sizeof code)) {
        return;
    }
    while (at < done && take(code, &at, OP_PUSH) != NO_REGISTER) {
        pushed++;
    }
    if (pushed == 0 || is_at_return(pc)) {
        return;
    }
    unsigned pops = at < done ? pops_ahead(pc) : 0;
    unsigned held = pops != 0 && pops < pushed ? pops : pushed;
    at = 0;
    for (unsigned i = 0; i < held; i++) {
        save(rule, take(code, &at, OP_PUSH), i);
    }
    rule->cfa_offset += WORD * (int32_t)held;
}
