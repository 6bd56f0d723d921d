/* SPDX-License-Identifier: MIT
 *
 * x86_64_rule.h: rules of x86-64.
 *
 * The callee-saved registers from which a caller's CFA may be computed are rbp (`fp`) and rbx (`bx`).
 *
 * A call leaves the return address just below the CFA. Nearly all rules are of this form, count from
 * one of three registers, and save rbp and rbx close to the CFA. They are packed into 31 bits:
 *
 *    [base 3][free 6][fp 5][bx 5][offset 12]          free: for the cache (unwind/rule_cache.h)
 *    30      27      21    16    11
 *
 *   base        what the CFA is computed from: rsp, rbp or rbx; or one of signal, end, other
 *   offset      CFA minus base, in words
 *   fp, bx      31: unchanged; n: saved at CFA - 256 + 8n. So 31 also names a word that may be read
 *               (the return address), and the walk can choose without a branch
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_X86_64_RULE_H
#define PP_ARCH_X86_64_RULE_H

#include "arch/rule_form.h"

enum { PP_RETURN_OFFSET = -8 /* of the return address, from the CFA */ };

/* At the first instruction of a function. CFA programs begin with these places. */
static const pp_rule pp_rule_at_entry = {
    .kind = PP_RULE_FRAME,
    .cfa_reg = PP_REG_SP,
    .cfa_offset = -PP_RETURN_OFFSET,
    .fp = {.kind = PP_WHERE_SAME},
    .bx = {.kind = PP_WHERE_SAME},
    .ra = {.kind = PP_WHERE_CFA, .offset = PP_RETURN_OFFSET},
};

static inline int pp_cfa_sign_operands(uint8_t operation)
{
    (void)operation;
    return -1;
}

static inline bool pp_rule_may_be_signal(const pp_rule *rule)
{
    (void)rule; /* the CFI of signal frames says what they are */
    return false;
}

static inline bool pp_rule_is_usual_return(const pp_rule *rule)
{
    return rule->ra.kind == PP_WHERE_CFA && rule->ra.offset == PP_RETURN_OFFSET;
}

/* ---- packed rules ---- */

typedef enum pp_base {
    PP_BASE_SP,
    PP_BASE_FP,
    /* The walk's inner loop takes none of the following: the highest of the three bits is set. */
    PP_BASE_BX = 4,
    PP_BASE_SIGNAL,
    PP_BASE_END,
    PP_BASE_OTHER /* offset 0: no rule for this PC; 1: a rule that cannot be packed. In the place of
                   * `bx` no rule has its pp_reason. */
} pp_base;

enum {
    PP_PACKED_BITS = 31,
    PP_PACKED_FREE_SHIFT = 22, /* of the six bits that are free */
    PP_PACKED_BASE_SHIFT = 28,
    PP_PACKED_UNCHANGED = 31, /* the place of a register that the function has not saved */
    PP_PACKED_SAVES_BELOW_CFA = 256
};

/* The words below a CFA that a packed rule can name, and the return address. */
#define PP_PACKED_WORDS_BELOW_CFA ((uintptr_t)33)

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
    return (packed & 0xfff) * 8;
}

/* The places of the saved registers. */
static inline unsigned pp_packed_fp(uint64_t packed)
{
    return (unsigned)(packed >> 17) & 31;
}

static inline unsigned pp_packed_bx(uint64_t packed)
{
    return (unsigned)(packed >> 12) & 31;
}

/* The pp_reason of PP_PACKED_NO_RULE. */
static inline unsigned pp_packed_why(uint64_t packed)
{
    return pp_packed_bx(packed);
}

static inline uintptr_t pp_packed_save_address(uintptr_t cfa, unsigned saved)
{
    return cfa + saved * sizeof(uintptr_t) - PP_PACKED_SAVES_BELOW_CFA;
}

typedef uint8_t pp_packed_place;

/* Whether what a packed rule reads is at or above SP, if the CFA is above it: here, what it reads is
 * just below the CFA. */
static inline bool pp_packed_base_is_above(uintptr_t base, uintptr_t sp)
{
    (void)base;
    (void)sp;
    return true;
}

/* Computes the CFA by a packed rule; false if the rule is none of a frame, or needs a register that
 * is not known. */
static inline bool pp_packed_cfa(uint64_t packed, uintptr_t sp, uintptr_t fp, uintptr_t bx,
                                 bool is_interrupted, uintptr_t *cfa)
{
    (void)is_interrupted;
    uintptr_t offset = pp_packed_offset(packed);
    switch (pp_packed_base(packed)) {
    case PP_BASE_SP:
        *cfa = sp + offset;
        return true;
    case PP_BASE_FP:
        *cfa = fp + offset;
        return fp != 0;
    case PP_BASE_BX:
        *cfa = bx + offset;
        return bx != 0;
    default:
        return false;
    }
}

/* Whether a frame that is left by a packed rule has its return address on the stack, and where. */
static inline bool pp_packed_return_is_saved(uint64_t packed)
{
    (void)packed;
    return true;
}

static inline uintptr_t pp_packed_return_address(uintptr_t cfa, unsigned bx_place)
{
    (void)bx_place;
    return cfa + (uintptr_t)PP_RETURN_OFFSET;
}

/* Whether the rule says where bx is saved, which is no return address. */
static inline bool pp_packed_saves_bx(uint64_t packed)
{
    return pp_packed_bx(packed) != PP_PACKED_UNCHANGED;
}

/* The caller's bx: `bx` has been restored, and `word` is the return address. */
static inline uintptr_t pp_bx_of_caller(uintptr_t bx, uintptr_t word)
{
    (void)word;
    return bx;
}

#endif
