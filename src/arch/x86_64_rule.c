/* SPDX-License-Identifier: MIT
 *
 * x86_64_rule.c: packs rules.
 *
 * Zone: SIGNAL.
 * Tested by: unit.rule_cache
 */
#include "arch/x86_64_rule.h"

enum { MAX_OFFSET_WORDS = 0xfff, WORD = 8 };

static bool pack_save(const pp_where *where, uint64_t *place)
{
    if (where->kind == PP_WHERE_SAME) {
        *place = PP_PACKED_UNCHANGED;
        return true;
    }
    int32_t above = where->offset + PP_PACKED_SAVES_BELOW_CFA;
    if (where->kind != PP_WHERE_CFA || where->offset % WORD != 0 || above < 0 ||
        above >= PP_PACKED_UNCHANGED * WORD) {
        return false;
    }
    *place = (uint64_t)(above / WORD);
    return true;
}

static bool pack_base(const pp_rule *rule, pp_base *base)
{
    switch (rule->cfa_reg) {
    case PP_REG_SP:
        *base = PP_BASE_SP;
        return true;
    case PP_REG_FP:
        *base = PP_BASE_FP;
        return true;
    case PP_REG_BX:
        *base = PP_BASE_BX;
        return true;
    default:
        return false;
    }
}

uint64_t pp_rule_pack(const pp_rule *rule)
{
    pp_base base = PP_BASE_OTHER;
    uint64_t fp = 0;
    uint64_t bx = 0;
    switch (rule->kind) {
    case PP_RULE_SIGNAL:
        return (uint64_t)PP_BASE_SIGNAL << PP_PACKED_BASE_SHIFT;
    case PP_RULE_END:
        return (uint64_t)PP_BASE_END << PP_PACKED_BASE_SHIFT;
    case PP_RULE_NONE:
        return PP_PACKED_NO_RULE | (uint64_t)rule->why << 12;
    default:
        break;
    }
    if (rule->apart || rule->cfa_read || rule->cfa_scale != 0 || rule->cfa_offset < 0 ||
        rule->cfa_offset % WORD != 0 || rule->cfa_offset / WORD > MAX_OFFSET_WORDS ||
        !pack_base(rule, &base) || !pack_save(&rule->fp, &fp) || !pack_save(&rule->bx, &bx) ||
        !pp_rule_is_usual_return(rule)) {
        return PP_PACKED_BIG_RULE;
    }
    return (uint64_t)base << PP_PACKED_BASE_SHIFT | fp << 17 | bx << 12 |
           (uint64_t)(rule->cfa_offset / WORD);
}
