/* SPDX-License-Identifier: MIT
 *
 * expression.h: DWARF expressions in CFI, reduced to a form that a rule can hold.
 *
 * An expression is not run against registers at each sample, it is run once against symbols, when
 * the rule is made. All that compilers and the assembler sources of libcrypto, glibc and the
 * linkers write into CFI reduces to one of
 *
 *   number      PP_VALUE_NUMBER    offset
 *   register    PP_VALUE_REGISTER  reg + index * scale + offset
 *   one read    PP_VALUE_READ      *(reg + index * scale + offset) + addend
 *   product     PP_VALUE_PRODUCT   index * scale             on the way to one of the others
 *
 * where the index is absent (scale 0) except in libcrypto's Montgomery multiplication.
 *
 * (the PLT's `((rip & 15) >= 11) << 3` becomes a number, since the PC is known). What does not
 * reduce is refused.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_UNWIND_EXPRESSION_H
#define PP_UNWIND_EXPRESSION_H

#include "arch/registers.h"
#include "unwind/image.h"

#include <stdbool.h>
#include <stdint.h>

/* The CFA as a symbol: on the stack when the expression of a register begins. */
#define PP_REG_CFA PP_REG_COUNT

typedef enum pp_value_kind {
    PP_VALUE_NUMBER,
    PP_VALUE_REGISTER,
    PP_VALUE_READ,
    PP_VALUE_PRODUCT
} pp_value_kind;

typedef struct pp_value {
    int64_t offset;
    int32_t addend;
    uint8_t kind; /* pp_value_kind */
    uint8_t reg;
    uint8_t index;
    uint8_t scale; /* 0 = no index */
} pp_value;

enum {
    PP_EXPRESSION_DEPTH = 6 /* the deepest expression in the wild, the PLT's, needs 3 */
};

/* The stack of an evaluation, which would be large on a signal handler's. Needs
 * no initialisation. */
typedef struct pp_expression_stack {
    pp_value value[PP_EXPRESSION_DEPTH];
    unsigned depth;
    bool failed;
} pp_expression_stack;

/*
 * Evaluates the `size` bytes of a DWARF expression at the cursor (DWARF 5, section 2.5), for the
 * instruction at `pc`. With `start_with_cfa` the CFA is pushed first (section 6.4.2.3,
 * DW_CFA_expression). The cursor is left behind the expression. False if it does not reduce.
 */
bool pp_expression_reduce(pp_expression_stack *stack, pp_cursor *cursor, uint64_t size,
                          uintptr_t pc, bool start_with_cfa, pp_value *result);

#endif
