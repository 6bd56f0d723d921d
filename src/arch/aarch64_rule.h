/* SPDX-License-Identifier: MIT
 *
 * aarch64_rule.h: rules of aarch64.
 *
 * A call leaves the return address in the link register, x30, and SP as it is. A function that calls
 * others stores x30, nearly always beside the frame pointer:
 *
 *    fp -->  | caller's fp | return address |        a frame record, anywhere in the frame
 *
 * Nearly all rules count the CFA from SP or the frame pointer, and have a frame record, or x30 alone on
 * the stack, or still in its register. They are packed into 32 bits:
 *
 *    [base 3][free 6][fp 1][place 12][offset 10]          free: for the cache (unwind/rule_cache.h)
 *    31      28      22    21        9
 *
 *   base        what the CFA is computed from: SP or the frame pointer; or one of link (SP; the return
 *               address is in x30), signal, end, other
 *   offset      CFA minus base, in units of 16 bytes
 *   place       the return address is at CFA - 8 * place
 *   fp          1: the frame pointer is saved in the word before; 0: unchanged
 *
 * The record is in the frame: it is not below the base, and so not below SP, if the base is not.
 *
 * `bx` is x30: of a caller, what its callee returned to.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_AARCH64_RULE_H
#define PP_ARCH_AARCH64_RULE_H

#include "arch/rule_form.h"

/* At the first instruction of a function. CFA programs begin with these places. */
static const pp_rule pp_rule_at_entry = {
    .kind = PP_RULE_FRAME,
    .cfa_reg = PP_REG_SP,
    .fp = {.kind = PP_WHERE_SAME},
    .bx = {.kind = PP_WHERE_SAME},
    .ra = {.kind = PP_WHERE_SAME},
};

/* DW_CFA_AARCH64_negate_ra_state has the number of DW_CFA_GNU_window_save, 0x2d; the others are
 * ..._set_ra_state and ..._negate_ra_state_with_pc (DWARF for the Arm 64-bit Architecture, 4.5). */
static inline int pp_cfa_sign_operands(uint8_t operation)
{
    return operation == 0x2b ? 2 : operation == 0x2c ? 0 : -1;
}

/* The vDSO's CFI of its restorer describes the record that the kernel stores above the signal frame,
 * at x29, as if the interrupted function had called. No frame of a function has its CFA at x29, where
 * its own record is. */
static inline bool pp_rule_may_be_signal(const pp_rule *rule)
{
    return rule->kind == PP_RULE_FRAME && rule->cfa_reg == PP_REG_FP && rule->cfa_offset == 0;
}

static inline bool pp_rule_is_usual_return(const pp_rule *rule)
{
    return rule->ra.kind == PP_WHERE_CFA;
}

/* ---- packed rules ---- */

typedef enum pp_base {
    PP_BASE_SP,
    PP_BASE_FP,
    /* The walk's inner loop takes none of the following: the highest of the three bits is set. */
    PP_BASE_LINK = 4,
    PP_BASE_SIGNAL,
    PP_BASE_END,
    PP_BASE_OTHER /* offset 0: no rule for this PC; 16: a rule that cannot be packed. In `place` no
                   * rule has its pp_reason. */
} pp_base;

enum {
    PP_PACKED_BITS = 32,
    PP_PACKED_FREE_SHIFT = 23, /* of the six bits that are free */
    PP_PACKED_BASE_SHIFT = 29,
    PP_PACKED_FP_SHIFT = 22,
    PP_PACKED_PLACE_SHIFT = 10,
    PP_PACKED_PLACE_MAX = 0xfff,
    PP_PACKED_OFFSET_MAX = 0x3ff,
    PP_PACKED_OFFSET_UNIT = 16,
    /* The place of a register that the function has not saved. It names a word that may be read; the
     * frame pointer is never there, since the return address comes after it. */
    PP_PACKED_UNCHANGED = 1
};

/* The words below a CFA that are read whatever the rule is. Others are not below SP. */
#define PP_PACKED_WORDS_BELOW_CFA ((uintptr_t)1)

#define PP_PACKED_NO_RULE  ((uint64_t)PP_BASE_OTHER << PP_PACKED_BASE_SHIFT)
#define PP_PACKED_BIG_RULE (PP_PACKED_NO_RULE | 1)

/* The packed form of a rule; PP_PACKED_BIG_RULE if it has none. */
uint64_t pp_rule_pack(const pp_rule *rule);

static inline pp_base pp_packed_base(uint64_t packed)
{
    return (pp_base)((packed >> PP_PACKED_BASE_SHIFT) & 7);
}

static inline bool pp_packed_is_on_fp(uint64_t packed)
{
    return packed >> PP_PACKED_BASE_SHIFT & 1;
}

/* CFA minus base. */
static inline uintptr_t pp_packed_offset(uint64_t packed)
{
    return (packed & PP_PACKED_OFFSET_MAX) * PP_PACKED_OFFSET_UNIT;
}

typedef uint16_t pp_packed_place;

/* The places of the saved registers. */
static inline unsigned pp_packed_bx(uint64_t packed)
{
    return (unsigned)(packed >> PP_PACKED_PLACE_SHIFT) & PP_PACKED_PLACE_MAX;
}

static inline unsigned pp_packed_fp(uint64_t packed)
{
    return (packed >> PP_PACKED_FP_SHIFT & 1) != 0 ? pp_packed_bx(packed) + 1 : PP_PACKED_UNCHANGED;
}

/* The pp_reason of PP_PACKED_NO_RULE. */
static inline unsigned pp_packed_why(uint64_t packed)
{
    return pp_packed_bx(packed);
}

static inline uintptr_t pp_packed_save_address(uintptr_t cfa, unsigned saved)
{
    return cfa - saved * sizeof(uintptr_t);
}

/* Whether what a packed rule reads is at or above SP, if the CFA is above it. */
static inline bool pp_packed_base_is_above(uintptr_t base, uintptr_t sp)
{
    return base >= sp;
}

/* Computes the CFA by a packed rule; false if the rule is none of a frame, or needs a register that
 * is not known. `returns_to_bx`: x30 has the return address, if the function has not saved it. */
static inline bool pp_packed_cfa(uint64_t packed, uintptr_t sp, uintptr_t fp, uintptr_t bx,
                                 bool returns_to_bx, uintptr_t *cfa)
{
    (void)bx;
    uintptr_t offset = pp_packed_offset(packed);
    switch (pp_packed_base(packed)) {
    case PP_BASE_SP:
        *cfa = sp + offset;
        return true;
    case PP_BASE_FP:
        *cfa = fp + offset;
        return fp != 0;
    case PP_BASE_LINK:
        *cfa = sp + offset;
        return returns_to_bx;
    default:
        return false;
    }
}

/* Whether a frame that is left by a packed rule has its return address on the stack, and where. */
static inline bool pp_packed_return_is_saved(uint64_t packed)
{
    return pp_packed_base(packed) != PP_BASE_LINK;
}

static inline uintptr_t pp_packed_return_address(uintptr_t cfa, unsigned bx_place)
{
    return pp_packed_save_address(cfa, bx_place);
}

/* Whether the rule says where bx is saved, which is no return address. */
static inline bool pp_packed_saves_bx(uint64_t packed)
{
    (void)packed;
    return false;
}

/* The caller's bx; `word` is the return address. */
static inline uintptr_t pp_bx_of_caller(uintptr_t bx, uintptr_t word)
{
    (void)bx;
    return word;
}

#endif
