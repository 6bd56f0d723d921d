/* SPDX-License-Identifier: MIT
 *
 * rule_form.h: the form of a rule (arch/rule.h), which is that of all architectures.
 *
 * Zone: SIGNAL (data only).
 */
#ifndef PP_ARCH_RULE_FORM_H
#define PP_ARCH_RULE_FORM_H

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

#endif
