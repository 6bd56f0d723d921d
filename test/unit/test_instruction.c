/* SPDX-License-Identifier: MIT
 *
 * test_instruction.c: arch/x86_64_instruction.c on what compilers and assemblers write. unit.flow has what the
 * meanings are for.
 *
 * Architecture: x86_64
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "arch/instruction.h"
#include "arch/registers.h"

/* The lengths of the instructions between two labels, as the assembler counts them. */
#define INSTRUCTION(text)                                                                          \
    "1: " text "\n2: .pushsection .rodata.lengths, \"a\"\n.byte 2b - 1b\n.popsection\n"

__asm__(
    ".pushsection .rodata.lengths, \"a\"\nlengths:\n.popsection\n.text\ncode:\n" INSTRUCTION(
        "nopw 0x0(%rax,%rax,1)") INSTRUCTION("cs nopw 0x200(%rax,%rax,1)") INSTRUCTION("endbr64")
        INSTRUCTION("movabs $0x1122334455667788, %r11") INSTRUCTION(
            "movabs %al, 0x1122334455667788") INSTRUCTION("mov $1, %ax") INSTRUCTION("mov $1, %al")
            INSTRUCTION("mov $1, %eax") INSTRUCTION("movw $1, (%rax)") INSTRUCTION(
                "movq $1, 8(%rsp)") INSTRUCTION("movl $1, sym(%rip)") INSTRUCTION("mov 0x12345678, "
                                                                                  "%eax")
                INSTRUCTION("mov 0x100(,%rax,8), %rax") INSTRUCTION("mov (%r12), %rax") INSTRUCTION(
                    "mov (%r13), %rax") INSTRUCTION("mov 1000(%r13,%r12,4), %rax") INSTRUCTION("tes"
                                                                                               "tb "
                                                                                               "$1,"
                                                                                               " (%"
                                                                                               "rdi"
                                                                                               ")")
                    INSTRUCTION("testl $1, (%rdi)") INSTRUCTION("testw $1, %cx") INSTRUCTION(
                        "notl (%rdi)") INSTRUCTION("imul $1000, %rax, "
                                                   "%rcx") INSTRUCTION("imul $10, %rax, %rcx")
                        INSTRUCTION("imul %rcx, %rax") INSTRUCTION("rep stosb") INSTRUCTION(
                            "lock cmpxchg "
                            "%ecx, (%rdx)") INSTRUCTION("xchg %rax, %rbx") INSTRUCTION("bswap %r9")
                            INSTRUCTION("cpuid") INSTRUCTION("pshufd $1, %xmm1, %xmm2") INSTRUCTION(
                                "psrldq $8, %xmm9") INSTRUCTION("pcmpistri $8, (%rdi), "
                                                                "%xmm1") INSTRUCTION("pshufb "
                                                                                     "%xmm1, "
                                                                                     "%xmm10")
                                INSTRUCTION("crc32b (%rdi), %eax") INSTRUCTION(
                                    "cvtsi2sd %rax, "
                                    "%xmm0") INSTRUCTION("vmovdqu (%rdi,%rax), %ymm1")
                                    INSTRUCTION("vpalignr $4, "
                                                "%ymm1, %ymm2, "
                                                "%ymm11") INSTRUCTION("vpshufd $1, %ymm1, %ymm2")
                                        INSTRUCTION("vzeroupper") INSTRUCTION(
                                            "vpternlogd $1, %zmm1, "
                                            "%zmm2, %zmm20")
                                            INSTRUCTION("vmovdqu64 64(%rsi), %zmm16") INSTRUCTION(
                                                "shlx %rax, %rbx, %rcx") INSTRUCTION("fldt 8(%rsp)")
                                                INSTRUCTION("fxch") INSTRUCTION(
                                                    "call *8(%rax)") INSTRUCTION("notrack jmp "
                                                                                 "*%rdx")
                                                    INSTRUCTION("push $1000") INSTRUCTION(
                                                        "pushfq") INSTRUCTION("popfq")
                                                        INSTRUCTION("enter $16, $0") INSTRUCTION(
                                                            "mov %fs:0x28, %rax") INSTRUCTION("data"
                                                                                              "16 "
                                                                                              "lea "
                                                                                              "sym("
                                                                                              "%rip"
                                                                                              "), "
                                                                                              "%rd"
                                                                                              "i")
                                                            INSTRUCTION("loop .") INSTRUCTION(
                                                                "xbegin .") INSTRUCTION("ud2")
                                                                INSTRUCTION("int3") INSTRUCTION(
                                                                    "shld $3, %rax, "
                                                                    "%rbx")
                                                                    INSTRUCTION(
                                                                        "btq $5, (%rdi)") ".pushsec"
                                                                                          "tion "
                                                                                          ".rodata."
                                                                                          "lengths,"
                                                                                          " \"a\"\n"
                                                                                          ".byte "
                                                                                          "0\n."
                                                                                          "popsecti"
                                                                                          "on\n"
                                                                                          ".data\ns"
                                                                                          "ym: "
                                                                                          ".quad "
                                                                                          "0\n."
                                                                                          "text\n");
extern const uint8_t code[], lengths[];

static void lengths_are_those_of_the_assembler(void **state)
{
    (void)state;
    const uint8_t *at = code;
    for (unsigned i = 0; lengths[i] != 0; i++) {
        pp_decoded read;
        pp_instruction_read(at, PP_INSTRUCTION_MAX, (uintptr_t)at, &read);
        if (read.length != lengths[i]) {
            fail_msg("instruction %u: %u bytes, not %u", i, read.length, lengths[i]);
        }
        pp_instruction_read(at, lengths[i] - 1u, (uintptr_t)at, &read);
        assert_int_equal(read.kind, PP_INSTRUCTION_UNKNOWN); /* it is cut */
        at += lengths[i];
    }
}

static pp_decoded read_bytes(const char *bytes, size_t size)
{
    pp_decoded read;
    pp_instruction_read((const uint8_t *)bytes, size, 0x1000, &read);
    return read;
}

#define READ(bytes) read_bytes(bytes, sizeof(bytes) - 1)

static void targets_are_addresses(void **state)
{
    (void)state;
    assert_int_equal(READ("\xe8\xfb\xff\xff\xff").target, 0x1000);
    assert_int_equal(READ("\xe9\x00\x01\x00\x00").target, 0x1105);
    assert_int_equal(READ("\xeb\xfe").target, 0x1000);
    assert_int_equal(READ("\x0f\x84\x10\x00\x00\x00").target, 0x1016);
    assert_int_equal(READ("\x74\x10").target, 0x1012);
    assert_int_equal(READ("\x66\xe8\x00\x00\x00\x00").target, 0x1006); /* 4 bytes, as on Intel's */
    assert_int_equal(READ("\xff\xe0").target, 0);
}

static void writes_of_the_stack_pointer_are_seen(void **state)
{
    (void)state;
    pp_decoded i = READ("\x48\x81\xec\x00\x10\x00\x00"); /* sub $0x1000, %rsp */
    assert_int_equal(i.kind, PP_INSTRUCTION_MOVE_SP);
    assert_int_equal(i.disp, -0x1000);
    i = READ("\x48\x83\xc4\x80"); /* add $-128, %rsp */
    assert_int_equal(i.disp, -128);
    i = READ("\x48\x83\xe4\xf0"); /* and $-16, %rsp */
    assert_int_equal(i.kind, PP_INSTRUCTION_SET);
    assert_int_equal(i.base, PP_NO_BASE);
    i = READ("\x48\x83\xfc\x10"); /* cmp $16, %rsp */
    assert_int_equal(i.kind, PP_INSTRUCTION_OTHER);
    i = READ("\x48\x8d\x65\xd8"); /* lea -40(%rbp), %rsp */
    assert_int_equal(i.base, PP_REG_FP);
    assert_int_equal(i.disp, -40);
    i = READ("\x49\x8d\x64\x24\x08"); /* lea 8(%r12), %rsp */
    assert_int_equal(i.kind, PP_INSTRUCTION_SET);
    assert_int_equal(i.base, PP_NO_BASE);
    i = READ("\x41\x5c"); /* pop %r12, not %rsp */
    assert_int_equal(i.kind, PP_INSTRUCTION_POP);
    assert_int_equal(i.reg, PP_NO_BASE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_are_those_of_the_assembler),
        cmocka_unit_test(targets_are_addresses),
        cmocka_unit_test(writes_of_the_stack_pointer_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
