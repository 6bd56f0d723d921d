/* SPDX-License-Identifier: MIT
 *
 * test_x86_64.c: which bytes are a call, by what the assembler makes of every addressing mode.
 *
 * Architecture: x86_64
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arch/x86_64.h"

#include <stdio.h>

#define CASE(name, instruction)                                                                    \
    __asm__(".pushsection .rodata\n.skip 16, 0xcc\n" name ":\n.byte 0x90\n" instruction "\n" name  \
            "_end:\n.skip 16, 0xcc\n.popsection\n")

#define CALL(id, instruction)                                                                      \
    CASE("call_" #id, instruction);                                                                \
    extern const uint8_t call_##id[], call_##id##_end[];

CALL(1, "call . + 0x1234")
CALL(2, "call *%rax")
CALL(3, "call *%r11")
CALL(4, "call *(%rax)")
CALL(5, "call *(%rsp)")
CALL(6, "call *(%rbp)")
CALL(7, "call *(%r12)")
CALL(8, "call *(%r13)")
CALL(9, "call *24(%rbx)")
CALL(10, "call *24(%rsp)")
CALL(11, "call *-8(%rbp)")
CALL(12, "call *0x1234(%r9)")
CALL(13, "call *0x1234(%rsp)")
CALL(14, "call *(%rax,%rbx,8)")
CALL(15, "call *(%rbp,%rbx,8)")
CALL(16, "call *16(%rax,%r10,4)")
CALL(17, "call *0x1000(%rax,%rbx,8)")
CALL(18, "call *0x1000(,%rbx,8)")
CALL(19, "call *0x1000")
CALL(20, "call *0x1000(%rip)")
CALL(21, "notrack call *%rdx")

static const struct {
    const uint8_t *start, *end;
} calls[] = {
    {call_1, call_1_end},   {call_2, call_2_end},   {call_3, call_3_end},   {call_4, call_4_end},
    {call_5, call_5_end},   {call_6, call_6_end},   {call_7, call_7_end},   {call_8, call_8_end},
    {call_9, call_9_end},   {call_10, call_10_end}, {call_11, call_11_end}, {call_12, call_12_end},
    {call_13, call_13_end}, {call_14, call_14_end}, {call_15, call_15_end}, {call_16, call_16_end},
    {call_17, call_17_end}, {call_18, call_18_end}, {call_19, call_19_end}, {call_20, call_20_end},
    {call_21, call_21_end},
};

static void every_call_is_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (!pp_ends_with_call(calls[i].end - PP_CALL_BYTES))
            fail_msg("call %zu is not seen", i + 1);
    }
}

/* Neither in its middle, nor some bytes behind its end. */
static void nothing_but_the_end_of_a_call_is_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        for (const uint8_t *at = calls[i].start; at < calls[i].end + 8; at++) {
            if (at != calls[i].end && pp_ends_with_call(at - PP_CALL_BYTES))
                fail_msg("call %zu is seen %td bytes behind its end", i + 1, at - calls[i].end);
        }
    }
}

static void other_instructions_are_no_calls(void **state)
{
    (void)state;
    static const uint8_t others[][PP_CALL_BYTES] = {
        {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90},
        {0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xe0}, /* jmp *%rax */
        {0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0x30}, /* push (%rax) */
        {0x90, 0x90, 0x90, 0x90, 0xff, 0x58, 0x08}, /* lcall *8(%rax) */
        {0x90, 0x90, 0xe9, 0, 0, 0, 0},             /* jmp */
        {0xff, 0x10, 0, 0, 0, 0, 0},                /* call *(%rax), and five bytes */
        {0x90, 0xff, 0xd0, 0, 0, 0, 0},             /* call *%rax, and four */
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(pp_ends_with_call(others[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_is_one),
        cmocka_unit_test(nothing_but_the_end_of_a_call_is_one),
        cmocka_unit_test(other_instructions_are_no_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
