/* SPDX-License-Identifier: MIT
 *
 * test_expression.c: which DWARF expressions reduce to a number, a register or one read, and to
 * which; and, against a plain evaluator, random expressions over numbers.
 *
 * Architecture: x86_64
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "unwind/expression.h"

static pp_expression_stack expression_stack;

enum {
    OP_ADDR = 0x03,
    OP_DEREF = 0x06,
    OP_CONST1U = 0x08,
    OP_CONST1S = 0x09,
    OP_CONST2U = 0x0a,
    OP_CONST2S = 0x0b,
    OP_CONST4U = 0x0c,
    OP_CONST4S = 0x0d,
    OP_CONST8U = 0x0e,
    OP_CONST8S = 0x0f,
    OP_CONSTU = 0x10,
    OP_CONSTS = 0x11,
    OP_DUP = 0x12,
    OP_DROP = 0x13,
    OP_OVER = 0x14,
    OP_SWAP = 0x16,
    OP_AND = 0x1a,
    OP_DIV = 0x1b,
    OP_MINUS = 0x1c,
    OP_MUL = 0x1e,
    OP_NEG = 0x1f,
    OP_NOT = 0x20,
    OP_OR = 0x21,
    OP_PLUS = 0x22,
    OP_PLUS_UCONST = 0x23,
    OP_SHL = 0x24,
    OP_SHR = 0x25,
    OP_BRA = 0x28,
    OP_EQ = 0x29,
    OP_GE = 0x2a,
    OP_GT = 0x2b,
    OP_LE = 0x2c,
    OP_LT = 0x2d,
    OP_NE = 0x2e,
    OP_LIT0 = 0x30,
    OP_REG0 = 0x50,
    OP_BREG0 = 0x70,
    OP_BREGX = 0x92,
    OP_NOP = 0x96,
    RSP = 7,
    RIP = 16,
    PC = 0x401234
};

#define LIT(n)  (OP_LIT0 + (n))
#define BREG(n) (OP_BREG0 + (n))

/* What the expression reduces to; kind NOTHING if it does not. */
enum { NOTHING = 0xff };

static pp_value reduce_bytes(const uint8_t *bytes, size_t size, bool start_with_cfa)
{
    pp_image image = {.lo = (uintptr_t)bytes, .hi = (uintptr_t)bytes + size, .permanent = true};
    pp_cursor cursor;
    pp_value value = {.kind = PP_VALUE_NUMBER, .offset = 0x5555};
    pp_cursor_init(&cursor, &image, NULL, image.lo, image.hi);
    if (!pp_expression_reduce(&expression_stack, &cursor, size, PC, start_with_cfa, &value))
        return (pp_value){.kind = NOTHING};
    assert_int_equal(cursor.at, image.hi);
    return value;
}

#define reduce(...)                                                                                \
    reduce_bytes((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), false)

static void assert_number_(pp_value value, int64_t number, const char *file, int line)
{
    _assert_int_equal(value.kind, PP_VALUE_NUMBER, file, line);
    _assert_int_equal((uintmax_t)value.offset, (uintmax_t)number, file, line);
}

static void assert_register_(pp_value value, uint8_t kind, uint8_t reg, int64_t offset,
                             int64_t addend, const char *file, int line)
{
    _assert_int_equal(value.kind, kind, file, line);
    _assert_int_equal(value.reg, reg, file, line);
    _assert_int_equal((uintmax_t)value.offset, (uintmax_t)offset, file, line);
    if (kind == PP_VALUE_READ)
        _assert_int_equal((uintmax_t)(int64_t)value.addend, (uintmax_t)addend, file, line);
}

#define assert_number(value, number) assert_number_(value, number, __FILE__, __LINE__)
#define assert_register(value, reg, offset)                                                        \
    assert_register_(value, PP_VALUE_REGISTER, reg, offset, 0, __FILE__, __LINE__)
#define assert_read(value, reg, offset, addend)                                                    \
    assert_register_(value, PP_VALUE_READ, reg, offset, addend, __FILE__, __LINE__)
#define assert_refused(value) assert_int_equal((value).kind, NOTHING)

static void constants_have_their_size_and_sign(void **state)
{
    (void)state;
    assert_number(reduce(LIT(0)), 0);
    assert_number(reduce(LIT(31)), 31);
    assert_number(reduce(OP_CONST1U, 0xff), 255);
    assert_number(reduce(OP_CONST1S, 0xff), -1);
    assert_number(reduce(OP_CONST2U, 0xff, 0xfe), 0xfeff);
    assert_number(reduce(OP_CONST2S, 0x00, 0x80), -32768);
    assert_number(reduce(OP_CONST4U, 0xff, 0xff, 0xff, 0xff), 0xffffffff);
    assert_number(reduce(OP_CONST4S, 0xfe, 0xff, 0xff, 0xff), -2);
    assert_number(reduce(OP_CONST8U, 1, 2, 3, 4, 5, 6, 7, 8), 0x0807060504030201);
    assert_number(reduce(OP_CONST8S, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), -1);
    assert_number(reduce(OP_ADDR, 0, 0, 0x40, 0, 0, 0, 0, 0), 0x400000);
    assert_number(reduce(OP_CONSTU, 0x80, 0x01), 128);
    assert_number(reduce(OP_CONSTS, 0x80, 0x7f), -128);
    assert_number(reduce(OP_CONSTS, 0x40), -64);
    assert_number(reduce(OP_CONSTS, 0x3f), 63);
}

static void the_program_counter_is_a_number(void **state)
{
    (void)state;
    assert_number(reduce(BREG(RIP), 0), PC);
    assert_number(reduce(BREG(RIP), 0x7f), PC - 1);
    assert_number(reduce(OP_BREGX, RIP, 4), PC + 4);
    assert_number(reduce(BREG(RIP), 0, LIT(15), OP_AND), PC & 15);
}

static void registers_take_offsets(void **state)
{
    (void)state;
    assert_register(reduce(BREG(RSP), 8), RSP, 8);
    assert_register(reduce(BREG(15), 0x78), 15, -8);
    assert_register(reduce(OP_BREGX, 10, 0), 10, 0);
    assert_register(reduce(BREG(RSP), 8, LIT(16), OP_PLUS), RSP, 24);
    assert_register(reduce(LIT(16), BREG(RSP), 8, OP_PLUS), RSP, 24);
    assert_register(reduce(BREG(RSP), 8, LIT(16), OP_MINUS), RSP, -8);
    assert_register(reduce(BREG(RSP), 8, OP_PLUS_UCONST, 0x80, 0x01), RSP, 136);
}

static void one_read_is_allowed(void **state)
{
    (void)state;
    assert_read(reduce(BREG(RSP), 16, OP_DEREF), RSP, 16, 0);
    assert_read(reduce(BREG(RSP), 16, OP_DEREF, OP_PLUS_UCONST, 8), RSP, 16, 8);
    assert_read(reduce(BREG(6), 0x78, OP_DEREF, LIT(8), OP_MINUS), 6, -8, -8);
    assert_refused(reduce(BREG(RSP), 16, OP_DEREF, OP_DEREF));
    assert_refused(reduce(LIT(16), OP_DEREF));
}

static void assert_index_(pp_value value, uint8_t index, uint8_t scale, const char *file, int line)
{
    _assert_int_equal(value.index, index, file, line);
    _assert_int_equal(value.scale, scale, file, line);
}

#define assert_index(value, index, scale) assert_index_(value, index, scale, __FILE__, __LINE__)

/* libcrypto's Montgomery multiplication: *(rsp + r9 * 8 + 8) + 8. */
static void an_index_may_be_added(void **state)
{
    (void)state;
    pp_value value =
        reduce(BREG(RSP), 8, BREG(9), 0, LIT(8), OP_MUL, OP_PLUS, OP_DEREF, OP_PLUS_UCONST, 8);
    assert_read(value, RSP, 8, 8);
    assert_index(value, 9, 8);
    value = reduce(BREG(RSP), 0, BREG(9), 0, LIT(8), OP_MUL, OP_PLUS, OP_PLUS_UCONST, 16);
    assert_register(value, RSP, 16);
    assert_index(value, 9, 8);
    assert_index(reduce(BREG(RSP), 0), 0, 0);
    assert_refused(reduce(BREG(9), 0, LIT(8), OP_MUL));
    assert_refused(reduce(BREG(RSP), 0, BREG(9), 4, LIT(8), OP_MUL, OP_PLUS));
    assert_refused(reduce(BREG(RSP), 0, BREG(9), 0, LIT(0), OP_MUL, OP_PLUS));
    assert_refused(reduce(BREG(RSP), 0, BREG(9), 0, OP_CONST2U, 0, 1, OP_MUL, OP_PLUS));
    assert_refused(reduce(BREG(RSP), 0, BREG(9), 0, LIT(8), OP_MUL, OP_PLUS, BREG(9), 0, LIT(8),
                          OP_MUL, OP_PLUS));
    assert_refused(reduce(BREG(RSP), 0, BREG(9), 0, LIT(8), OP_MUL, OP_PLUS, LIT(2), OP_MUL));
    assert_refused(reduce(BREG(9), 0, LIT(8), OP_MUL, OP_DEREF));
    assert_refused(reduce(BREG(9), 0, LIT(8), OP_MUL, LIT(1), OP_PLUS));
    assert_refused(reduce(BREG(9), 0, LIT(8), OP_MUL, LIT(2), OP_MUL));
}

static void the_cfa_may_come_first(void **state)
{
    (void)state;
    const uint8_t nothing[] = {OP_NOP};
    assert_register(reduce_bytes(nothing, 1, true), PP_REG_CFA, 0);
    const uint8_t above[] = {OP_PLUS_UCONST, 8};
    assert_register(reduce_bytes(above, 2, true), PP_REG_CFA, 8);
    const uint8_t other[] = {BREG(RSP), 8};
    assert_register(reduce_bytes(other, 2, true), RSP, 8);
    assert_register(reduce_bytes(nothing, 0, true), PP_REG_CFA, 0);
    assert_refused(reduce_bytes(nothing, 0, false));
}

static void the_stack_is_rearranged(void **state)
{
    (void)state;
    assert_number(reduce(LIT(3), OP_DUP, OP_MUL), 9);
    assert_number(reduce(LIT(3), LIT(4), OP_DROP), 3);
    assert_number(reduce(LIT(3), LIT(4), OP_SWAP, OP_MINUS), 1);
    assert_number(reduce(LIT(9), LIT(4), OP_OVER, OP_MINUS, OP_MINUS), 9 - (4 - 9));
    assert_number(reduce(LIT(7), OP_NOP), 7);
}

static void what_has_no_form_is_refused(void **state)
{
    (void)state;
    assert_refused(reduce(BREG(RSP), 0, BREG(6), 0, OP_PLUS));
    assert_refused(reduce(BREG(RSP), 0, BREG(6), 0, OP_MINUS));
    assert_refused(reduce(BREG(RSP), 0, LIT(15), OP_AND));
    assert_refused(reduce(BREG(RSP), 0, OP_NEG));
    assert_refused(reduce(BREG(RSP), 0, OP_NOT));
    assert_refused(reduce(LIT(1), BREG(RSP), 0, OP_MINUS));
    assert_refused(reduce(BREG(17), 0));
    assert_refused(reduce(OP_BREGX, 0x80, 0x01, 0));
    assert_refused(reduce(OP_REG0));
    assert_refused(reduce(LIT(1), OP_BRA, 0, 0));
    assert_refused(reduce(LIT(4), LIT(2), OP_DIV));
    assert_refused(reduce(OP_PLUS));
    assert_refused(reduce(LIT(1), OP_PLUS));
    assert_refused(reduce(OP_DROP));
    assert_refused(reduce(LIT(1), OP_DROP));
    assert_refused(reduce(LIT(1), OP_OVER));
    assert_refused(reduce(0xff));
    uint8_t deep[100];
    memset(deep, LIT(1), sizeof deep);
    assert_refused(reduce_bytes(deep, sizeof deep, false));
}

static void offsets_out_of_reach_are_refused(void **state)
{
    (void)state;
    assert_register(reduce(BREG(RSP), 0, OP_CONST4S, 0xff, 0xff, 0xff, 0x7f, OP_PLUS), RSP,
                    INT32_MAX);
    assert_refused(reduce(BREG(RSP), 1, OP_CONST4S, 0xff, 0xff, 0xff, 0x7f, OP_PLUS));
    assert_refused(reduce(BREG(RSP), 1, OP_CONST4S, 0xff, 0xff, 0xff, 0x7f, OP_PLUS, OP_DEREF));
    assert_refused(reduce(BREG(RSP), 0, OP_DEREF, OP_CONST4U, 0, 0, 0, 0x80, OP_PLUS));
    assert_refused(reduce(BREG(RSP), 0, OP_DEREF, OP_CONST8U, 255, 255, 255, 255, 255, 255, 255,
                          127, OP_DUP, OP_SWAP, OP_DROP, OP_PLUS, OP_PLUS_UCONST, 1));
}

static void operands_end_with_the_expression(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {OP_CONST4U, 1, 2, 3, 4, LIT(1)};
    pp_image image = {
        .lo = (uintptr_t)bytes, .hi = (uintptr_t)bytes + sizeof bytes, .permanent = true};
    for (size_t size = 1; size < 5; size++) {
        pp_cursor cursor;
        pp_value value;
        pp_cursor_init(&cursor, &image, NULL, image.lo, image.hi);
        assert_false(pp_expression_reduce(&expression_stack, &cursor, size, PC, false, &value));
        assert_int_equal(cursor.at, image.lo + size); /* the program goes on behind it */
        assert_false(cursor.failed);
    }
    pp_cursor cursor;
    pp_value value;
    pp_cursor_init(&cursor, &image, NULL, image.lo, image.hi);
    assert_false(
        pp_expression_reduce(&expression_stack, &cursor, sizeof bytes + 1, PC, false, &value));
    assert_true(cursor.failed);
    pp_cursor_init(&cursor, &image, NULL, image.lo, image.hi);
    assert_false(pp_expression_reduce(&expression_stack, &cursor, UINT64_MAX, PC, false, &value));
    assert_true(cursor.failed);
}

/* ---- the naive twin: numbers only ---- */

static int64_t twin_binary(uint8_t op, int64_t a, int64_t b)
{
    switch (op) {
    case OP_AND:
        return a & b;
    case OP_OR:
        return a | b;
    case OP_PLUS:
        return (int64_t)((uint64_t)a + (uint64_t)b);
    case OP_MINUS:
        return (int64_t)((uint64_t)a - (uint64_t)b);
    case OP_MUL:
        return (int64_t)((uint64_t)a * (uint64_t)b);
    case OP_SHL:
        return b < 0 || b > 63 ? 0 : (int64_t)((uint64_t)a << b);
    case OP_SHR:
        return b < 0 || b > 63 ? 0 : (int64_t)((uint64_t)a >> b);
    case OP_EQ:
        return a == b;
    case OP_GE:
        return a >= b;
    case OP_GT:
        return a > b;
    case OP_LE:
        return a <= b;
    case OP_LT:
        return a < b;
    default:
        return a != b;
    }
}

static void random_arithmetic_agrees_with_a_plain_evaluator(void **state)
{
    (void)state;
    static const uint8_t binary[] = {OP_AND, OP_OR, OP_PLUS, OP_MINUS, OP_MUL, OP_SHL, OP_SHR,
                                     OP_EQ,  OP_GE, OP_GT,   OP_LE,    OP_LT,  OP_NE};
    uint64_t seed = 42;
    for (int round = 0; round < 20000; round++) {
        uint8_t bytes[64];
        size_t size = 0;
        int64_t numbers[5];
        size_t depth = 0;
        while (size < 48 || depth != 1) {
            if (depth < 2 || (size < 40 && depth < 5 && pp_random_below(&seed, 2) == 0)) {
                int64_t number = (int64_t)pp_random_below(&seed, 256) - 128;
                bytes[size++] = OP_CONST1S;
                bytes[size++] = (uint8_t)number;
                numbers[depth++] = number;
            } else {
                uint8_t op = binary[pp_random_below(&seed, sizeof binary)];
                bytes[size++] = op;
                numbers[depth - 2] = twin_binary(op, numbers[depth - 2], numbers[depth - 1]);
                depth--;
            }
            if (size > 48 && depth == 1)
                break;
        }
        assert_number(reduce_bytes(bytes, size, false), numbers[0]);
    }
}

static void random_bytes_are_survived(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int round = 0; round < 100000; round++) {
        uint8_t bytes[24];
        size_t size = 1 + pp_random_below(&seed, sizeof bytes);
        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)pp_random_next(&seed);
        pp_value value = reduce_bytes(bytes, size, round % 2 == 0);
        assert_true(value.kind == NOTHING || value.kind <= PP_VALUE_READ);
        if (value.kind != NOTHING && value.kind != PP_VALUE_NUMBER) {
            assert_in_range(value.reg, 0, PP_REG_CFA);
            assert_true(value.offset == (int32_t)value.offset);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_have_their_size_and_sign),
        cmocka_unit_test(the_program_counter_is_a_number),
        cmocka_unit_test(registers_take_offsets),
        cmocka_unit_test(one_read_is_allowed),
        cmocka_unit_test(an_index_may_be_added),
        cmocka_unit_test(the_cfa_may_come_first),
        cmocka_unit_test(the_stack_is_rearranged),
        cmocka_unit_test(what_has_no_form_is_refused),
        cmocka_unit_test(offsets_out_of_reach_are_refused),
        cmocka_unit_test(operands_end_with_the_expression),
        cmocka_unit_test(random_arithmetic_agrees_with_a_plain_evaluator),
        cmocka_unit_test(random_bytes_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
