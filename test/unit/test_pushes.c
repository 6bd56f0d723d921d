/* SPDX-License-Identifier: MIT
 *
 * test_pushes.c: functions that push registers and whose call-frame information is empty.
 *
 * Architecture: x86_64
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "arch/registers.h"
#include "unwind/pushes.h"

#include <string.h>

/* Followed by what may be read behind the end. */
static const uint8_t two_pushes[40] = {
    0x53,             /*  0 push %rbx */
    0x55,             /*  1 push %rbp */
    0x48, 0x8d, 0x1a, /*  2 lea (%rdx),%rbx */
    0x90,             /*  5 nop */
    0x5d,             /*  6 pop %rbp */
    0x5b,             /*  7 pop %rbx */
    0xc3,             /*  8 ret */
};

static const uint8_t with_prefixes[40] = {
    0x41, 0x54, /*  0 push %r12 */
    0x55,       /*  2 push %rbp */
    0x41, 0x57, /*  3 push %r15 */
    0x90,       /*  5 nop */
    0x41, 0x5f, /*  6 pop %r15 */
    0x5d,       /*  8 pop %rbp */
    0x41, 0x5c, /*  9 pop %r12 */
    0xc3,       /* 11 ret */
};

static const uint8_t no_push[40] = {0x90, 0x53, 0x5b, 0xc3};

static pp_rule rule_at(const uint8_t *code, unsigned offset)
{
    pp_rule rule = {.kind = PP_RULE_FRAME,
                    .cfa_reg = PP_REG_SP,
                    .cfa_offset = 8,
                    .fp = {.kind = PP_WHERE_SAME},
                    .bx = {.kind = PP_WHERE_SAME},
                    .ra = {.kind = PP_WHERE_CFA, .offset = -8},
                    .silent = (uint16_t)(offset + 1)};
    pp_pushes_apply(NULL, (uintptr_t)code + offset, &rule);
    return rule;
}

static void assert_place(pp_where where, int32_t offset)
{
    if (offset == 0) {
        assert_int_equal(where.kind, PP_WHERE_SAME);
        return;
    }
    assert_int_equal(where.kind, PP_WHERE_CFA);
    assert_int_equal(where.offset, offset);
}

typedef struct expectation {
    unsigned offset;
    int32_t cfa, fp, bx; /* places of 0: still in the register */
} expectation;

static void assert_rules(const uint8_t *code, const expectation *expected, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pp_rule rule = rule_at(code, expected[i].offset);
        assert_int_equal(rule.cfa_reg, PP_REG_SP);
        assert_int_equal(rule.cfa_offset, expected[i].cfa);
        assert_place(rule.fp, expected[i].fp);
        assert_place(rule.bx, expected[i].bx);
        assert_place(rule.ra, -8);
    }
}

static void pushes_are_counted_and_pops_too(void **state)
{
    (void)state;
    static const expectation expected[] = {
        {0, 8, 0, 0},      {1, 16, 0, -16}, {2, 24, -24, -16}, {5, 24, -24, -16},
        {6, 24, -24, -16}, {7, 16, 0, -16}, {8, 8, 0, 0},
    };
    assert_rules(two_pushes, expected, sizeof expected / sizeof *expected);
}

static void registers_with_a_prefix_take_a_word_each(void **state)
{
    (void)state;
    static const expectation expected[] = {
        {0, 8, 0, 0},    {2, 16, 0, 0},   {3, 24, -24, 0}, {5, 32, -24, 0},
        {6, 32, -24, 0}, {8, 24, -24, 0}, {9, 16, 0, 0},   {11, 8, 0, 0},
    };
    assert_rules(with_prefixes, expected, sizeof expected / sizeof *expected);
}

static void a_function_that_begins_otherwise_is_left_alone(void **state)
{
    (void)state;
    static const expectation expected[] = {{0, 8, 0, 0}, {1, 8, 0, 0}, {2, 8, 0, 0}, {3, 8, 0, 0}};
    assert_rules(no_push, expected, sizeof expected / sizeof *expected);
}

static void code_that_cannot_be_read_is_left_alone(void **state)
{
    (void)state;
    pp_rule rule = {.kind = PP_RULE_FRAME, .cfa_offset = 8, .silent = 5};
    pp_pushes_apply(NULL, 64, &rule);
    assert_int_equal(rule.cfa_offset, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushes_are_counted_and_pops_too),
        cmocka_unit_test(registers_with_a_prefix_take_a_word_each),
        cmocka_unit_test(a_function_that_begins_otherwise_is_left_alone),
        cmocka_unit_test(code_that_cannot_be_read_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
