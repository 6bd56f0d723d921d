/* SPDX-License-Identifier: MIT
 *
 * test_flow.c: unwind/flow.c on functions without call-frame information. Each has a label at which the rule
 * is known.
 *
 * Architecture: x86_64
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "arch/registers.h"
#include "unwind/flow.h"

#define AT(name) extern const char(name)[]

__asm__(".text\n"
        "at_pushes:\n push %rbp\n push %rbx\n sub $24, %rsp\n"
        "at_body:\n call *%rax\n"
        "at_call:\n test %eax, %eax\n je 1f\n mov $1, %eax\n"
        "1: add $24, %rsp\n"
        "at_pop:\n pop %rbx\n pop %rbp\n"
        "at_ret:\n ret\n");
AT(at_pushes);
AT(at_body);
AT(at_call);
AT(at_pop);
AT(at_ret);

__asm__(".text\n"
        "at_entry_of_frame:\n push %rbp\n mov %rsp, %rbp\n push %rbx\n sub %rax, %rsp\n"
        "at_alloca:\n mov %rsp, %rdi\n call *%rax\n mov -8(%rbp), %rbx\n leave\n"
        "at_after_leave:\n ret\n");
AT(at_entry_of_frame);
AT(at_alloca);
AT(at_after_leave);

__asm__(
    ".text\n"
    "at_restored_by_moves:\n nop\n mov 16(%rsp), %rbx\n mov 24(%rsp), %rbp\n add $40, %rsp\n ret\n"
    "at_lea:\n lea -16(%rbp), %rsp\n pop %rbx\n pop %r12\n pop %rbp\n ret\n");
AT(at_restored_by_moves);
AT(at_lea);

/* What comes after the call is another function. */
__asm__(".text\n"
        "stops:\n mov $60, %eax\n1: syscall\n jmp 1b\n"
        "calls_one_that_stops:\n sub $8, %rsp\n call *%rcx\n call stops\n"
        "another:\n pop %rax\n pop %rax\n pop %rax\n ret\n"
        "at_check:\n cmp $1, %eax\n jne 1f\n call calls_one_that_stops\n"
        "unrelated:\n add $512, %rsp\n ret\n"
        "1: add $56, %rsp\n ret\n"
        "at_the_end:\n mov %eax, %edi\n call calls_one_that_stops\n"
        "ends_thread:\n cmp $1, %ebx\n jne 1f\n call *%rcx\n jmp stops\n1: call "
        "calls_one_that_stops\n ret\n"
        "at_the_end_of_a_thread:\n mov %rax, %rdi\n call ends_thread\n");
AT(at_check);
AT(at_the_end);
AT(at_the_end_of_a_thread);

__asm__(".text\n"
        "at_loop:\n dec %rdi\n jnz at_loop\n pop %rbx\n ret\n"
        "at_jump_back:\n jmp 2f\n1: add $8, %rsp\n ret\n2: push $1\n pop %rcx\n jmp 1b\n"
        "at_tail_call:\n pop %rbx\n pop %rbp\n jmp at_pushes\n"
        "at_tail:\n add $8, %rsp\n jmp *pointer(%rip)\n"
        "at_switch:\n ja 1f\n jmp *%rax\n1: add $72, %rsp\n ret\n"
        "at_unknown_stack:\n mov 48(%rdi), %rsp\n ret\n"
        "at_endless:\n jmp at_endless\n"
        ".data\npointer: .quad 0\n.text\n");
AT(at_loop);
AT(at_jump_back);
AT(at_tail_call);
AT(at_tail);
AT(at_switch);
AT(at_unknown_stack);
AT(at_endless);

/* Functions that end the program: nothing returns. */
__asm__(".text\n"
        "ends:\n push %rbp\n push %rbx\n sub $24, %rsp\n"
        "ends_body:\n test %edi, %edi\n je 1f\n call *%rax\n"
        "ends_after_call:\n mov %edi, %ebx\n1: mov %ebx, %edi\n call stops\n"
        "after_ends:\n add $4096, %rsp\n ret\n"
        "ends_in_frame:\n push %rbp\n mov %rsp, %rbp\n and $-64, %rsp\n call stops\n"
        "after_ends_in_frame:\n ret\n");
AT(ends);
AT(ends_body);
AT(ends_after_call);
AT(after_ends);
AT(ends_in_frame);
AT(after_ends_in_frame);

static pp_flow_end find(const char *at, pp_rule *rule)
{
    uint64_t space[PP_FLOW_SPACE / sizeof(uint64_t)];
    return pp_flow_rule(NULL, (uintptr_t)at, space, rule);
}

enum { IN_REGISTER = 1 };

static void assert_place(const pp_where *where, int32_t offset)
{
    if (offset == IN_REGISTER) {
        assert_int_equal(where->kind, PP_WHERE_SAME);
        return;
    }
    assert_int_equal(where->kind, PP_WHERE_CFA);
    assert_int_equal(where->offset, offset);
}

static void assert_rule(const char *at, unsigned base, int32_t cfa, int32_t fp, int32_t bx)
{
    pp_rule rule;
    assert_int_equal(find(at, &rule), PP_FLOW_RETURNS);
    assert_int_equal(rule.kind, PP_RULE_FRAME);
    assert_int_equal(rule.cfa_reg, base);
    assert_int_equal(rule.cfa_offset, cfa);
    assert_place(&rule.fp, fp);
    assert_place(&rule.bx, bx);
    assert_true(pp_rule_is_usual_return(&rule));
}

static void assert_none(const char *at, pp_flow_end why)
{
    pp_rule rule = {.kind = PP_RULE_NONE, .why = 7};
    assert_int_equal(find(at, &rule), why);
    assert_int_equal(rule.kind, PP_RULE_NONE);
    assert_int_equal(rule.why, 7);
}

static void pushes_and_pops_are_counted(void **state)
{
    (void)state;
    assert_rule(at_pushes, PP_REG_SP, 8, IN_REGISTER, IN_REGISTER);
    assert_rule(at_body, PP_REG_SP, 48, -16, -24);
    assert_rule(at_call, PP_REG_SP, 48, -16, -24);
    assert_rule(at_pop, PP_REG_SP, 24, -16, -24);
    assert_rule(at_ret, PP_REG_SP, 8, IN_REGISTER, IN_REGISTER);
}

static void a_frame_pointer_makes_up_for_an_unknown_size(void **state)
{
    (void)state;
    assert_rule(at_alloca, PP_REG_FP, 16, -16, -24);
    assert_rule(at_after_leave, PP_REG_SP, 8, IN_REGISTER, IN_REGISTER);
    assert_rule(at_entry_of_frame, PP_REG_SP, 8, IN_REGISTER, IN_REGISTER);
    assert_rule(at_lea, PP_REG_FP, 16, -16, -32);
}

static void registers_may_be_restored_by_moves(void **state)
{
    (void)state;
    assert_rule(at_restored_by_moves, PP_REG_SP, 48, -24, -32);
}

static void nothing_comes_after_a_call_that_never_returns(void **state)
{
    (void)state;
    assert_rule(at_check, PP_REG_SP, 64, IN_REGISTER, IN_REGISTER);
    assert_none(at_the_end, PP_FLOW_NEVER);
    assert_none(at_the_end_of_a_thread, PP_FLOW_NEVER);
}

static void jumps_are_followed(void **state)
{
    (void)state;
    assert_rule(at_loop, PP_REG_SP, 16, IN_REGISTER, -16);
    assert_rule(at_jump_back, PP_REG_SP, 16, IN_REGISTER, IN_REGISTER);
    assert_rule(at_tail_call, PP_REG_SP, 24, -16, -24);
    assert_rule(at_tail, PP_REG_SP, 16, IN_REGISTER, IN_REGISTER);
    assert_rule(at_switch, PP_REG_SP, 80, IN_REGISTER, IN_REGISTER);
}

static void code_that_cannot_be_followed_has_no_rule(void **state)
{
    (void)state;
    assert_none(at_unknown_stack, PP_FLOW_UNKNOWN);
    assert_none(at_endless, PP_FLOW_NEVER);
    assert_none((const char *)0x123456789000, PP_FLOW_UNKNOWN);
}

static void a_function_that_never_returns_is_followed_from_its_begin(void **state)
{
    (void)state;
    pp_rule rule;
    const char *const found[] = {ends_body, ends_after_call, after_ends};
    uint64_t space[PP_FLOW_SPACE / sizeof(uint64_t)];
    for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
        assert_int_equal(
            pp_flow_rule_since(NULL, (uintptr_t)ends, (uintptr_t)found[i], true, space, &rule),
            PP_FLOW_RETURNS);
        assert_int_equal(rule.cfa_reg, PP_REG_SP);
        assert_int_equal(rule.cfa_offset, 48);
        assert_place(&rule.fp, -16);
        assert_place(&rule.bx, -24);
    }
    /* What is after the call does not belong to the function. */
    assert_int_not_equal(
        pp_flow_rule_since(NULL, (uintptr_t)ends, (uintptr_t)after_ends + 7, true, space, &rule),
        PP_FLOW_RETURNS);
    assert_int_equal(pp_flow_rule_since(NULL, (uintptr_t)ends_in_frame,
                                        (uintptr_t)after_ends_in_frame, true, space, &rule),
                     PP_FLOW_UNKNOWN);
    /* An interrupted thread is in the function that comes after the call. */
    assert_int_not_equal(
        pp_flow_rule_since(NULL, (uintptr_t)ends, (uintptr_t)after_ends, false, space, &rule),
        PP_FLOW_RETURNS);
    assert_int_equal(
        pp_flow_rule_since(NULL, (uintptr_t)ends, (uintptr_t)ends_after_call, false, space, &rule),
        PP_FLOW_RETURNS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushes_and_pops_are_counted),
        cmocka_unit_test(a_frame_pointer_makes_up_for_an_unknown_size),
        cmocka_unit_test(registers_may_be_restored_by_moves),
        cmocka_unit_test(nothing_comes_after_a_call_that_never_returns),
        cmocka_unit_test(jumps_are_followed),
        cmocka_unit_test(code_that_cannot_be_followed_has_no_rule),
        cmocka_unit_test(a_function_that_never_returns_is_followed_from_its_begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
