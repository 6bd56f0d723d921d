/* SPDX-License-Identifier: MIT
 *
 * aarch64_rule.c: packs rules.
 *
 * Zone: SIGNAL.
 * Tested by: e2e.unwind_compare
 */
#include "arch/aarch64_rule.h"

enum { WORD = 8 };

/* The record is between the base and the CFA. */
static bool pack_record(const pp_rule *rule, uint64_t *record)
{
    int32_t below = -rule->ra.offset;
    int32_t lowest = below;
    if (rule->ra.kind != PP_WHERE_CFA || below <= 0 || below % WORD != 0 ||
        below / WORD > PP_PACKED_PLACE_MAX) {
        return false;
    }
    *record = (uint64_t)(below / WORD) << PP_PACKED_PLACE_SHIFT;
    if (rule->fp.kind == PP_WHERE_CFA && rule->fp.offset == rule->ra.offset - WORD) {
        *record |= UINT64_C(1) << PP_PACKED_FP_SHIFT;
        lowest += WORD;
    } else if (rule->fp.kind != PP_WHERE_SAME) {
        return false;
    }
    return lowest <= rule->cfa_offset;
}

uint64_t pp_rule_pack(const pp_rule *rule)
{
    uint64_t base = rule->cfa_reg == PP_REG_FP ? PP_BASE_FP : PP_BASE_SP;
    uint64_t record = 0;
    switch (rule->kind) {
    case PP_RULE_SIGNAL:
        return (uint64_t)PP_BASE_SIGNAL << PP_PACKED_BASE_SHIFT;
    case PP_RULE_END:
        return (uint64_t)PP_BASE_END << PP_PACKED_BASE_SHIFT;
    case PP_RULE_NONE:
        return PP_PACKED_NO_RULE | (uint64_t)rule->why << PP_PACKED_PLACE_SHIFT;
    default:
        break;
    }
    if (rule->apart || rule->cfa_read || rule->cfa_scale != 0 || rule->cfa_offset < 0 ||
        rule->cfa_offset % PP_PACKED_OFFSET_UNIT != 0 ||
        rule->cfa_offset / PP_PACKED_OFFSET_UNIT > PP_PACKED_OFFSET_MAX ||
        (rule->cfa_reg != PP_REG_SP && rule->cfa_reg != PP_REG_FP)) {
        return PP_PACKED_BIG_RULE;
    }
    if (rule->ra.kind == PP_WHERE_SAME && rule->fp.kind == PP_WHERE_SAME &&
        rule->cfa_reg == PP_REG_SP) {
        base = PP_BASE_LINK;
    } else if (!pack_record(rule, &record)) {
        return PP_PACKED_BIG_RULE;
    }
    return base << PP_PACKED_BASE_SHIFT | record |
           (uint64_t)(rule->cfa_offset / PP_PACKED_OFFSET_UNIT);
}
