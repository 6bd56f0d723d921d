/* SPDX-License-Identifier: MIT
 *
 * x86_64_rule.h: rules of x86-64.
 *
 * A rule says where the frame begins (the CFA, "canonical frame address": SP before the call), where
 * the return address is, and where the two callee-saved registers are from which a caller's CFA may
 * be computed: rbp (`fp`) and rbx (`bx`).
 *
 *   cfa    = register + offset                 nearly always rsp or rbp
 *          | *(register + offset) + addend     DRAP realignment, libcrypto's assembler
 *            (either with + index * scale)     libcrypto's Montgomery multiplication
 *   fp, bx = unchanged | *(cfa + offset) | *(register + offset) | cfa + offset | in a register
 *          | lost
 *   return = *(cfa - 8), or one of the same forms
 *
 * The caller's SP is the CFA. Where CFI has another rule for it (__longjmp, setcontext, coroutine
 * switches in assembler, the Haskell run-time), rebase.h rewrites the rule: `cfa` here is always
 * the caller's SP, and the places count from there.
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

#include "arch/registers.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum pp_rule_kind {
    PP_RULE_FRAME = 1, /* an ordinary frame, the fields below hold */
    PP_RULE_SIGNAL,    /* a signal frame: all registers are in the kernel's ucontext at SP */
    PP_RULE_END,       /* the outermost frame: its return address is undefined */
    PP_RULE_NONE       /* no usable CFI for this PC */
} pp_rule_kind;

typedef enum pp_where_kind {
    PP_WHERE_SAME,      /* still in its register */
    PP_WHERE_CFA,       /* *(cfa + offset) */
    PP_WHERE_MEMORY,    /* *(reg + offset), registers of the frame itself */
    PP_WHERE_CFA_VALUE, /* cfa + offset, no memory read */
    PP_WHERE_REGISTER,  /* moved to register reg */
    PP_WHERE_LOST,      /* undefined by the CFI */
    PP_WHERE_BEYOND     /* defined by the CFI in a form that is none of these */
} pp_where_kind;

typedef struct pp_where {
    int32_t offset;
    uint8_t kind; /* pp_where_kind */
    uint8_t reg;
} pp_where;

typedef struct pp_rule {
    int32_t cfa_offset;
    int32_t cfa_addend; /* after the read, if cfa_read */
    uint8_t kind;       /* pp_rule_kind */
    uint8_t cfa_reg;
    uint8_t cfa_index;
    uint8_t cfa_scale; /* 0 = no index */
    uint8_t why;       /* of PP_RULE_NONE: a pp_reason */
    bool cfa_read : 1;
    bool permanent : 1; /* of a module that cannot be unloaded */
    bool apart : 1;     /* of libpprof's code: the walk's inner loop must not pass it */
    uint16_t silent;    /* if the function's CFI is empty: 1 + its bytes before the PC; else 0 */
    pp_where fp, bx, ra;
} pp_rule;

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
    PP_PACKED_UNCHANGED = 31,  /* the place of a register that the function has not saved */
    PP_PACKED_SAVES_BELOW_CFA = 256
};

/* The words below a CFA that a packed rule can name, and the return address. */
#define PP_PACKED_WORDS_BELOW_CFA ((uintptr_t)33)

#define PP_PACKED_NO_RULE  ((uint64_t)PP_BASE_OTHER << 28)
#define PP_PACKED_BIG_RULE (PP_PACKED_NO_RULE | 1)

/* The packed form of a rule; PP_PACKED_BIG_RULE if it has none. */
uint64_t pp_rule_pack(const pp_rule *rule);

static inline pp_base pp_packed_base(uint64_t packed)
{
    return (pp_base)((packed >> 28) & 7);
}

static inline bool pp_packed_is_on_fp(uint64_t packed)
{
    return packed >> 28 & 1;
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

/* Where a frame with this CFA, left by a packed rule, has its return address. */
static inline uintptr_t pp_packed_return_address(uintptr_t cfa)
{
    return cfa + (uintptr_t)PP_RETURN_OFFSET;
}

#endif
