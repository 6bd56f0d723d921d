/* SPDX-License-Identifier: MIT
 *
 * test_explain.c: rules in words, for code whose call-frame information is written here.
 *
 * Architecture: x86_64
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modules/modules.h"
#include "unwind/explain.h"

/* Code that is never executed, between NAME and NAME + 16. */
#define CODE(name, cfi)                                                                            \
    __asm__(".text\n.p2align 4\n" #name ":\n.cfi_startproc\n" cfi ".skip 16, 0x90\n"               \
            ".cfi_endproc\n");                                                                     \
    extern const char(name)[]

CODE(code_usual, ".cfi_def_cfa rbp, 16\n.cfi_offset rbp, -16\n.cfi_same_value rbx\n");
CODE(code_read, ".cfi_escape 0x0f, 5, 0x77, 16, 0x06, 0x23, 8\n.cfi_undefined rbx\n");
CODE(code_moved, ".cfi_register rip, rdi\n.cfi_val_offset rbp, -24\n.cfi_register rbx, r12\n");
CODE(code_signal, ".cfi_signal_frame\n");
CODE(code_end, ".cfi_undefined rip\n");
CODE(code_nested, ".rept 5\n.cfi_remember_state\n.endr\n");
__asm__(".text\n.p2align 4\ncode_bare:\n.skip 15, 0x90\n.byte 6\n");
extern const char code_bare[];

static void assert_words(const char *code, const char *words)
{
    pp_walk_space space;
    pp_text text = PP_TEXT_INIT;
    pp_explain_rule(NULL, (uintptr_t)code + 8, (uintptr_t)code - 0x1200, &space, &text);
    assert_string_equal(text.data, words);
}

static void rules_of_frames_have_their_places(void **state)
{
    (void)state;
    assert_words(code_usual, "the FDE of 0x1200-0x1210 says: CFA = rbp+16, return address at "
                             "CFA-8, rbp at CFA-16, rbx unchanged");
    assert_words(code_read, "the FDE of 0x1200-0x1210 says: CFA = *(rsp+16)+8, return address at "
                            "CFA-8, rbp unchanged, rbx lost");
    assert_words(code_moved, "the FDE of 0x1200-0x1210 says: CFA = rsp+8, return address in rdi, "
                             "rbp is CFA-24, rbx in r12");
}

static void other_rules_have_a_sentence(void **state)
{
    (void)state;
    assert_words(code_signal, "the FDE of 0x1200-0x1210 says: a signal frame, with all registers "
                              "in the kernel's ucontext");
    assert_words(code_end, "the FDE of 0x1200-0x1210 says: the outermost frame, its return "
                           "address is undefined");
    assert_words(code_nested, "the FDE of 0x1200-0x1210 says: nothing that can be used");
}

static void code_without_an_fde_has_no_rule(void **state)
{
    (void)state;
    assert_words(code_bare, "");
    assert_words((const char *)0x123456789000, "");
}

static int setup(void **state)
{
    (void)state;
    pp_modules_init();
    pp_modules_refresh();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_of_frames_have_their_places),
        cmocka_unit_test(other_rules_have_a_sentence),
        cmocka_unit_test(code_without_an_fde_has_no_rule),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
