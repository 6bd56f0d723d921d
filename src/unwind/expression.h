/* SPDX-License-Identifier: MIT
 *
 * expression.h: DWARF expressions in CFI, reduced to a form that a rule can hold.
 *
 * The unwinder evaluates an expression once, when it makes the rule, and with symbols instead of
 * register values. No sample evaluates it again. Every expression that compilers and linkers, and
 * the assembler sources of libcrypto and glibc, write into CFI reduces to one of
 *
 *   number      PP_VALUE_NUMBER    offset
 *   register    PP_VALUE_REGISTER  reg + index * scale + offset
 *   one read    PP_VALUE_READ      *(reg + index * scale + offset) + addend
 *   product     PP_VALUE_PRODUCT   index * scale             on the way to one of the others
 *
 * Only libcrypto's Montgomery multiplication has an index; everywhere else the scale is 0. The
 * PLT's `((rip & 15) >= 11) << 3` becomes a number, since the PC is known. The evaluation refuses
 * an expression that does not reduce.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_UNWIND_EXPRESSION_H
#define PP_UNWIND_EXPRESSION_H

#include "arch/registers.h"
#include "unwind/image.h"

#include <stdbool.h>
#include <stdint.h>

/* The CFA as a symbol. It is on the stack when the expression of a register begins. */
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

/* The stack of an evaluation. It would be large on the stack of a signal handler. It needs no
 * initialisation. */
typedef struct pp_expression_stack {
    pp_value value[PP_EXPRESSION_DEPTH];
    unsigned depth;
    bool failed;
} pp_expression_stack;

/*
 * Evaluates the `size` bytes of a DWARF expression at the cursor (DWARF 5, section 2.5), for the
 * instruction at `pc`. With `start_with_cfa` the CFA is pushed first (section 6.4.2.3,
 * DW_CFA_expression). Leaves the cursor after the expression. Returns false if the expression does
 * not reduce.
 */
bool pp_expression_reduce(pp_expression_stack *stack, pp_cursor *cursor, uint64_t size,
                          uintptr_t pc, bool start_with_cfa, pp_value *result);

#endif
