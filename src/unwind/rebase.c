/* SPDX-License-Identifier: MIT
 *
 * rebase.c: rewrites a rule so that its CFA is the caller's SP.
 *
 * Zone: SIGNAL.
 * Tested by: unit.cfi
 */
#include "unwind/rebase.h"

#include "arch/registers.h"

static bool add(int32_t *sum, int32_t number)
{
    return !__builtin_add_overflow(*sum, number, sum);
}

/* ---- SP = cfa + k ---- */

static bool move_place(pp_where *place, int32_t k)
{
    if (place->kind == PP_WHERE_CFA || place->kind == PP_WHERE_CFA_VALUE) {
        return !__builtin_sub_overflow(place->offset, k, &place->offset);
    }
    return true;
}

static bool move_cfa(pp_rule *rule, int32_t k)
{
    return add(rule->cfa_read ? &rule->cfa_addend : &rule->cfa_offset, k) &&
           move_place(&rule->fp, k) && move_place(&rule->bx, k) && move_place(&rule->ra, k);
}

/* ---- SP from elsewhere ---- */

/* Expresses a place that counts from the CFA by the register that the CFA is computed from. */
static void put_on_register(pp_where *place, const pp_rule *rule)
{
    bool on_cfa = place->kind == PP_WHERE_CFA || place->kind == PP_WHERE_CFA_VALUE;
    if (!on_cfa) {
        return;
    }
    pp_where moved = {.offset = place->offset, .reg = rule->cfa_reg, .kind = PP_WHERE_MEMORY};
    bool plain = !rule->cfa_read && rule->cfa_scale == 0 && add(&moved.offset, rule->cfa_offset);
    if (plain && place->kind == PP_WHERE_CFA_VALUE) {
        moved.kind = PP_WHERE_REGISTER; /* register + offset has no form */
        plain = moved.offset == 0;
    }
    *place = plain ? moved : (pp_where){.kind = PP_WHERE_BEYOND};
}

static void stand_on(pp_rule *rule, unsigned reg, int32_t offset, bool read)
{
    put_on_register(&rule->fp, rule);
    put_on_register(&rule->bx, rule);
    put_on_register(&rule->ra, rule);
    rule->cfa_reg = (uint8_t)reg;
    rule->cfa_offset = offset;
    rule->cfa_read = read;
    rule->cfa_addend = 0;
    rule->cfa_index = rule->cfa_scale = 0;
}

bool pp_rule_rebase(pp_rule *rule, const pp_where *sp)
{
    pp_where from = *sp;
    switch (from.kind) {
    case PP_WHERE_CFA_VALUE:
        return move_cfa(rule, from.offset);
    case PP_WHERE_CFA:
        put_on_register(&from, rule);
        break;
    case PP_WHERE_SAME:
        from = (pp_where){.kind = PP_WHERE_REGISTER, .reg = PP_REG_SP};
        break;
    default:
        break;
    }
    if (from.kind != PP_WHERE_REGISTER && from.kind != PP_WHERE_MEMORY) {
        return false;
    }
    stand_on(rule, from.reg, from.offset, from.kind == PP_WHERE_MEMORY);
    return rule->ra.kind != PP_WHERE_BEYOND;
}
