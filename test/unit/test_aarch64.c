/* SPDX-License-Identifier: MIT
 *
 * test_aarch64.c: what src/arch/ knows of aarch64, and rules of code without CFI (unwind/flow.c).
 *
 * Architecture: aarch64
 *
 * Encodings are those that GNU as writes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "arch/calls.h"
#include "arch/linkage.h"
#include "arch/rule.h"
#include "kinds/heap/live_filter.h"
#include "kinds/heap/live_table.h"
#include "modules/modules.h"
#include "unwind/flow.h"
#include "unwind/walk.h"

#include "pprof.h"

#include <string.h>
#include <ucontext.h>

/* ---- instructions ---- */

static void calls_are_told_from_other_instructions(void **state)
{
    (void)state;
    static const uint32_t calls[] = {0x94000000, 0x97ffffff, 0xd63f0000, 0xd63f03c0, 0xd73f0a1f};
    static const uint32_t others[] = {0x14000000, 0xd61f0000, 0xd65f03c0, 0xd503201f, 0xd71f0a1f};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        assert_true(pp_ends_with_call((const uint8_t *)&calls[i]));
        assert_false(pp_ends_with_call((const uint8_t *)&others[i]));
    }
}

static void targets_of_calls_and_jumps_are_found(void **state)
{
    (void)state;
    const uint32_t back = 0x97fffffe;                              /* bl .-8 */
    const uint32_t stub[] = {0xd503245f, 0xb0000090, 0xf9400211};  /* bti c; adrp; ldr x17, [x16] */
    const uint32_t plain[] = {0xb0000090, 0xf947fa11, 0x913fc210}; /* adrp; ldr x17, [x16, #4080] */
    const uint32_t thunk[] = {0x14000400, 0, 0};                   /* b .+0x1000 */
    uintptr_t pointer = 0;
    uintptr_t target = 0;
    assert_int_equal(pp_call_site_at((const uint8_t *)&back, 0x1004).target, 0x1000 - 8);
    assert_true(pp_jump_at((const uint8_t *)stub, 0x400000, &pointer, &target));
    assert_int_equal(pointer, 0x411000);
    assert_true(pp_jump_at((const uint8_t *)plain, 0x400ffc, &pointer, &target));
    assert_int_equal(pointer, 0x411000 + 4080);
    assert_true(pp_jump_at((const uint8_t *)thunk, 0x400000, &pointer, &target));
    assert_int_equal(target, 0x401000);
}

static void signatures_are_taken_off(void **state)
{
    (void)state;
    uintptr_t plain = (uintptr_t)signatures_are_taken_off;
    uintptr_t address = plain;
    __asm__("mov x17, %0\n\t"
            "mov x16, sp\n\t"
            "hint #8\n\t" /* pacia1716 */
            "mov %0, x17"
            : "+r"(address)
            :
            : "x16", "x17");
    assert_int_equal(pp_return_address(address), plain);
    assert_int_equal(pp_return_address(plain), plain);
    assert_int_equal(pp_return_address(0), 0);
}

/* ---- packed rules ---- */

static pp_rule rule_of(uint8_t reg, int32_t offset, int32_t fp, int32_t ra)
{
    pp_rule rule = {.kind = PP_RULE_FRAME, .cfa_reg = reg, .cfa_offset = offset};
    if (fp != 0) {
        rule.fp = (pp_where){.kind = PP_WHERE_CFA, .offset = fp};
    }
    if (ra != 0) {
        rule.ra = (pp_where){.kind = PP_WHERE_CFA, .offset = ra};
    }
    return rule;
}

static void packed_rules_say_what_was_packed(void **state)
{
    (void)state;
    const uintptr_t cfa = 0x10000;
    for (int32_t size = 16; size <= 16368; size += 16) {
        for (int32_t ra = 8; ra <= size; ra += 8) {
            bool has_fp = ra + 8 <= size && ra % 16 == 8;
            pp_rule rule =
                rule_of(size % 32 != 0 ? PP_REG_SP : PP_REG_FP, size, has_fp ? -ra - 8 : 0, -ra);
            uint64_t packed = pp_rule_pack(&rule);
            assert_int_not_equal(packed, PP_PACKED_BIG_RULE);
            assert_int_equal(pp_packed_base(packed), size % 32 != 0 ? PP_BASE_SP : PP_BASE_FP);
            assert_int_equal(pp_packed_offset(packed), size);
            assert_true(pp_packed_return_is_saved(packed));
            assert_int_equal(pp_packed_return_address(cfa, pp_packed_bx(packed)),
                             cfa - (unsigned)ra);
            if (has_fp) {
                assert_int_equal(pp_packed_save_address(cfa, pp_packed_fp(packed)),
                                 cfa - (unsigned)ra - 8);
                assert_int_not_equal(pp_packed_fp(packed), PP_PACKED_UNCHANGED);
            } else {
                assert_int_equal(pp_packed_fp(packed), PP_PACKED_UNCHANGED);
            }
        }
    }
}

static void leaf_functions_return_by_the_register(void **state)
{
    (void)state;
    uintptr_t cfa = 0;
    const pp_rule leaf = rule_of(PP_REG_SP, 32, 0, 0);
    uint64_t packed = pp_rule_pack(&leaf);
    assert_int_equal(pp_packed_base(packed), PP_BASE_LINK);
    assert_false(pp_packed_return_is_saved(packed));
    assert_true(pp_packed_cfa(packed, 0x1000, 0, 0x400000, true, &cfa));
    assert_int_equal(cfa, 0x1020);
    assert_false(pp_packed_cfa(packed, 0x1000, 0, 0x400000, false, &cfa)); /* a caller is no leaf */
}

static void other_rules_are_big(void **state)
{
    (void)state;
    pp_rule rules[] = {
        rule_of(PP_REG_SP, 16384, -16, -8), /* too large */
        rule_of(PP_REG_SP, 32, -48, -40),   /* the record is below the base */
        rule_of(PP_REG_SP, 24, -16, -8),    /* not aligned */
        rule_of(PP_REG_SP, 32, -16, -32),   /* not side by side */
        rule_of(PP_REG_SP, 32, -16, 0),     /* x30 is still in its register */
        rule_of(PP_REG_FP, 32, 0, 0),       /* a leaf with a frame pointer */
        rule_of(19, 32, -32, -24),          /* another register */
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        assert_int_equal(pp_rule_pack(&rules[i]), PP_PACKED_BIG_RULE);
    }
}

/* ---- rules of code without CFI ---- */

/* The code has two pieces more, which are read and have no meaning. */
static uint32_t text[128];

static pp_rule rule_at(size_t instruction, const uint32_t *code, size_t count)
{
    static uint64_t space[PP_FLOW_SPACE / sizeof(uint64_t)];
    pp_rule rule = {.kind = PP_RULE_NONE};
    memset(text, 0, sizeof text);
    memcpy(text, code, count * sizeof *code);
    pp_flow_rule(NULL, (uintptr_t)&text[instruction], space, &rule);
    return rule;
}

static void assert_rule(pp_rule rule, uint8_t reg, int32_t cfa, int32_t fp, int32_t ra)
{
    assert_int_equal(rule.kind, PP_RULE_FRAME);
    assert_int_equal(rule.cfa_reg, reg);
    assert_int_equal(rule.cfa_offset, cfa);
    assert_int_equal(rule.fp.kind, fp != 0 ? PP_WHERE_CFA : PP_WHERE_SAME);
    assert_int_equal(rule.fp.offset, fp);
    assert_int_equal(rule.ra.kind, ra != 0 ? PP_WHERE_CFA : PP_WHERE_SAME);
    assert_int_equal(rule.ra.offset, ra);
}

#define RULE(at, code) rule_at(at, code, sizeof(code) / sizeof *(code))

static void each_instruction_of_a_function_has_its_frame(void **state)
{
    (void)state;
    static const uint32_t code[] = {
        0xd503233f, /*  0 paciasp */
        0xa9ba7bfd, /*  1 stp x29, x30, [sp, #-96]! */
        0x910003fd, /*  2 mov x29, sp */
        0xa90153f3, /*  3 stp x19, x20, [sp, #16] */
        0xd10103ff, /*  4 sub sp, sp, #64 */
        0x94000000, /*  5 bl . */
        0xa94153b3, /*  6 ldp x19, x20, [x29, #16] */
        0x910103ff, /*  7 add sp, sp, #64 */
        0xa8c67bfd, /*  8 ldp x29, x30, [sp], #96 */
        0xd50323bf, /*  9 autiasp */
        0xd65f03c0, /* 10 ret */
    };
    for (size_t i = 0; i <= 1; i++) {
        assert_rule(RULE(i, code), PP_REG_SP, 0, 0, 0);
    }
    for (size_t i = 2; i <= 4; i++) {
        assert_rule(RULE(i, code), PP_REG_SP, 96, -96, -88);
    }
    for (size_t i = 5; i <= 7; i++) {
        assert_rule(RULE(i, code), PP_REG_SP, 160, -96, -88);
    }
    assert_rule(RULE(8, code), PP_REG_SP, 96, -96, -88);
    assert_rule(RULE(9, code), PP_REG_SP, 0, 0, 0);
    assert_rule(RULE(10, code), PP_REG_SP, 0, 0, 0);
}

static void frame_pointers_and_other_registers_count(void **state)
{
    (void)state;
    static const uint32_t by_fp[] = {
        0xd503201f, /* nop */
        0x910003bf, /* mov sp, x29 */
        0xa8c27bfd, /* ldp x29, x30, [sp], #32 */
        0xd65f0bff, /* retaa */
    };
    static const uint32_t vectors[] = {
        0x6dbb27e8, /* 0 stp d8, d9, [sp, #-80]! */
        0xf8410ffe, /* 1 ldr x30, [sp, #16]!: moves before */
        0x6cc427e8, /* 2 ldp d8, d9, [sp], #64 */
        0xd65f03c0, /* 3 ret */
    };
    static const uint32_t stub[] = {0xb0000090, 0xf9400211, 0x91000210, 0xd61f0220};
    assert_rule(RULE(0, by_fp), PP_REG_FP, 32, -32, -24);
    assert_rule(RULE(1, vectors), PP_REG_SP, 80, 0, -64);
    assert_rule(RULE(2, vectors), PP_REG_SP, 64, 0, 0);
    assert_rule(RULE(0, stub), PP_REG_SP, 0, 0, 0);
    assert_rule(RULE(3, stub), PP_REG_SP, 0, 0, 0);
}

static void loops_and_other_ways_out_are_passed(void **state)
{
    (void)state;
    static const uint32_t code[] = {
        0xb40000c0, /* 0 cbz x0, 6 */
        0xd503201f, /* 1 nop */
        0x17fffffe, /* 2 b 0 */
        0x910103ff, /* 3 add sp, sp, #64: another way out */
        0x14000004, /* 4 b 8 */
        0xd503201f, /* 5 nop */
        0xa8c27bfd, /* 6 ldp x29, x30, [sp], #32 */
        0xd65f03c0, /* 7 ret */
        0xd65f03c0, /* 8 ret */
    };
    static const uint32_t endless[] = {0x14000000};
    static const uint32_t elsewhere[] = {0x9100013f, 0xd65f03c0}; /* mov sp, x9 */
    assert_rule(RULE(0, code), PP_REG_SP, 32, -32, -24);
    assert_rule(RULE(3, code), PP_REG_SP, 64, 0, 0);
    assert_int_equal(RULE(0, endless).kind, PP_RULE_NONE);
    assert_int_equal(RULE(0, elsewhere).kind, PP_RULE_NONE);
}

static void prologues_that_come_first_are_undone(void **state)
{
    (void)state;
    static const uint32_t code[] = {
        0xf94006be, /* 0 ldr x30, [x21, #8]: of no stack */
        0xd10103ff, /* 1 sub sp, sp, #64 */
        0xa9017bfd, /* 2 stp x29, x30, [sp, #16] */
        0x910043fd, /* 3 add x29, sp, #16 */
        0xd53bd053, /* 4 mrs x19, tpidr_el0 */
        0xa9417bfd, /* 5 ldp x29, x30, [sp, #16] */
        0x910103ff, /* 6 add sp, sp, #64 */
        0xd65f03c0, /* 7 ret */
    };
    assert_rule(RULE(1, code), PP_REG_SP, 0, 0, 0);
    assert_rule(RULE(2, code), PP_REG_SP, 64, 0, 0);
    assert_rule(RULE(3, code), PP_REG_SP, 64, -48, -40);
    assert_rule(RULE(5, code), PP_REG_SP, 64, -48, -40);
    assert_rule(RULE(6, code), PP_REG_SP, 64, 0, 0);
}

static void a_call_that_never_returns_ends_a_way(void **state)
{
    (void)state;
    static const uint32_t code[] = {
        0xb4000040, /* 0 cbz x0, 2 */
        0x94000004, /* 1 bl 5 */
        0xa8c27bfd, /* 2 ldp x29, x30, [sp], #32 */
        0xd65f03c0, /* 3 ret */
        0x00000000, /* 4 udf */
        0xd4200000, /* 5 brk: the function that is called */
    };
    static const uint32_t vectors[] = {0x0420503f, 0xd65f03c0}; /* addvl sp, x0, #1 */
    assert_rule(RULE(0, code), PP_REG_SP, 32, -32, -24);
    assert_int_equal(RULE(1, code).kind, PP_RULE_NONE);
    assert_int_equal(RULE(0, vectors).kind, PP_RULE_NONE);
}

static void the_first_stub_of_a_linkage_table_has_two_words(void **state)
{
    (void)state;
    static const uint32_t code[] = {
        0xa9bf7bf0, /* stp x16, x30, [sp, #-16]! */
        0xb0000090, /* adrp x16 */
        0xf947fa11, /* ldr x17, [x16, #4080] */
        0x913fc210, /* add x16, x16, #4080 */
        0xd61f0220, /* br x17 */
    };
    for (size_t i = 1; i <= 4; i++) {
        assert_rule(RULE(i, code), PP_REG_SP, 16, 0, -8);
    }
}

/* ---- tags ---- */

static void blocks_are_known_by_any_tag(void **state)
{
    (void)state;
    const uintptr_t block = 0x5500001230;
    const uintptr_t tag = (uintptr_t)0xa5 << 56;
    pp_live_entry entry;
    uint64_t value = 0;
    pp_live_table_init();
    assert_true(pp_live_table_insert(block | tag, 7));
    assert_true(pp_live_table_find(block, &entry));
    assert_int_equal(entry.address, block);
    assert_true(pp_live_filter_may_have(block | tag));
    assert_true(pp_live_table_remove(block | tag << 1, &value));
    assert_int_equal(value, 7);
    assert_false(pp_live_table_remove(block | tag, &value));
    assert_int_equal(pp_live_table_count(), 0);
}

/* ---- walks ---- */

static size_t depth_of(uintptr_t *pcs)
{
    return pprof_callers(0, pcs, 64);
}

static __attribute__((noinline)) size_t recurse(int levels, uintptr_t *pcs)
{
    size_t depth = levels > 0 ? recurse(levels - 1, pcs) : depth_of(pcs);
    __asm__ volatile("" ::: "memory"); /* no tail call */
    return depth;
}

static void callers_are_found_to_the_end(void **state)
{
    (void)state;
    uintptr_t few[64];
    uintptr_t many[64];
    size_t depth = recurse(3, few);
    assert_int_equal(recurse(13, many), depth + 10);
    for (size_t i = 1; i <= 12; i++) { /* equal, but for the first: the calls of one instruction */
        assert_int_equal(many[i + 1], many[2]);
    }
    assert_memory_equal(&many[depth + 10 - 3], &few[depth - 3], 3 * sizeof *few);
}

/* As glibc's _start, which writes after its landing that nobody has called it. */
__asm__(".text\n"
        ".p2align 4\n"
        ".type begins_a_stack, %function\n"
        "begins_a_stack:\n"
        "    .cfi_startproc\n"
        "    hint #34\n"
        "    .cfi_undefined x30\n"
        "    mov x30, #0\n"
        "    .cfi_endproc\n"
        "    .size begins_a_stack, . - begins_a_stack\n"
        ".type begins_plainly, %function\n"
        "begins_plainly:\n"
        "    .cfi_startproc\n"
        "    nop\n"
        "    .cfi_undefined x30\n"
        "    mov x30, #0\n"
        "    .cfi_endproc\n"
        "    .size begins_plainly, . - begins_plainly\n");
__attribute__((visibility("hidden"))) void begins_a_stack(void);
__attribute__((visibility("hidden"))) void begins_plainly(void);

static void what_is_written_after_a_landing_holds_at_it(void **state)
{
    (void)state;
    static pp_walk_space space;
    static ucontext_t context;
    uintptr_t pcs[8];
    pp_modules_init();
    pp_modules_refresh();
    const uintptr_t places[] = {(uintptr_t)begins_a_stack, (uintptr_t)begins_a_stack + 4,
                                (uintptr_t)begins_plainly, (uintptr_t)begins_plainly + 4};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        pp_walk walk = {.pcs = pcs, .space = &space, .capacity = 8};
        context.uc_mcontext.pc = places[i];
        context.uc_mcontext.sp = (uintptr_t)__builtin_frame_address(0);
        context.uc_mcontext.regs[30] = (uintptr_t)__builtin_return_address(0);
        pp_walk_from_context(&context, &walk);
        assert_int_equal(walk.depth, 1);
        assert_int_equal(walk.stop, PP_STOP_END);
    }
}

/* As glibc's rawmemchr, which calls strlen, and that leaves x15 alone. */
__asm__(".text\n"
        ".p2align 4\n"
        ".type keeps_return_in_x15, %function\n"
        "keeps_return_in_x15:\n"
        "    .cfi_startproc\n"
        "    mov x15, x30\n"
        "    .cfi_register x30, x15\n"
        "    bl leaves_x15\n"
        "    ret x15\n"
        "    .cfi_endproc\n"
        "    .size keeps_return_in_x15, . - keeps_return_in_x15\n"
        ".type leaves_x15, %function\n"
        "leaves_x15:\n"
        "    .cfi_startproc\n"
        "    ret\n"
        "    .cfi_endproc\n"
        "    .size leaves_x15, . - leaves_x15\n");
__attribute__((visibility("hidden"))) void keeps_return_in_x15(void);
__attribute__((visibility("hidden"))) void leaves_x15(void);

static void a_function_may_keep_its_return_address_in_another_register(void **state)
{
    (void)state;
    enum { CALL = 4 };
    static pp_walk_space space;
    static ucontext_t context;
    uintptr_t pcs[8];
    const uintptr_t after = (uintptr_t)keeps_return_in_x15 + CALL + PP_CALL_BYTES;
    pp_modules_init();
    pp_modules_refresh();
    for (int turn = 0; turn < 3;
         turn++) { /* the rules are in the cache then, and what was walked in the memo */
        pp_walk walk = {.pcs = pcs, .space = &space, .capacity = 3};
        context.uc_mcontext.pc = (uintptr_t)leaves_x15;
        context.uc_mcontext.sp = (uintptr_t)__builtin_frame_address(0);
        context.uc_mcontext.regs[30] = after;
        context.uc_mcontext.regs[15] = (uintptr_t)begins_a_stack + (turn == 2 ? 4 : 8);
        pp_walk_from_context(&context, &walk);
        assert_int_equal(walk.depth, 3);
        assert_int_equal(pcs[1], after);
        assert_int_equal(pcs[2], context.uc_mcontext.regs[15]);
    }
    context.uc_mcontext.regs[15] = after; /* it seems to return to itself, for ever */
    pp_walk walk = {.pcs = pcs, .space = &space, .capacity = 8};
    pp_walk_from_context(&context, &walk);
    assert_int_equal(walk.depth, 2);
    assert_int_equal(walk.stop, PP_STOP_BAD_READ);
}

/* As glibc's __longjmp, whose CFI is of the frame in the jmp_buf. */
__asm__(".text\n"
        ".p2align 4\n"
        ".type jumps_far, %function\n"
        "jumps_far:\n"
        "    .cfi_startproc\n"
        "    nop\n"
        "    .cfi_def_cfa x0, 0\n"
        "    .cfi_offset x29, 80\n"
        "    .cfi_offset x30, 88\n"
        "    ldp x29, x4, [x0, #80]\n"
        "    br x4\n"
        "    .cfi_endproc\n"
        "    .size jumps_far, . - jumps_far\n");
__attribute__((visibility("hidden"))) void jumps_far(void);

static void what_cfi_tells_of_the_frame_to_jump_to_is_not_the_caller(void **state)
{
    (void)state;
    enum { LINK = 88 / sizeof(uintptr_t), WORDS = 12 };
    static uintptr_t elsewhere[WORDS];
    uintptr_t on_stack[WORDS] = {0};
    static pp_walk_space space;
    static ucontext_t context;
    uintptr_t pcs[8];
    const uintptr_t caller = (uintptr_t)__builtin_return_address(0);
    elsewhere[LINK] = on_stack[LINK] = UINT64_C(0x123456789abc); /* encrypted */
    pp_modules_init();
    pp_modules_refresh();
    for (uintptr_t place = 0; place <= 4; place += 4) {
        for (int turn = 0; turn < 4; turn++) { /* each rule from the cache, too */
            pp_walk walk = {.pcs = pcs, .space = &space, .capacity = 2};
            context.uc_mcontext.pc = (uintptr_t)jumps_far + place;
            context.uc_mcontext.sp = (uintptr_t)on_stack & ~(uintptr_t)15;
            context.uc_mcontext.regs[30] = caller;
            context.uc_mcontext.regs[0] = (uintptr_t)(turn % 2 != 0 ? elsewhere : on_stack);
            pp_walk_from_context(&context, &walk);
            assert_int_equal(walk.depth, 2);
            assert_int_equal(pcs[1], caller);
            assert_true(walk.guessed);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_told_from_other_instructions),
        cmocka_unit_test(targets_of_calls_and_jumps_are_found),
        cmocka_unit_test(signatures_are_taken_off),
        cmocka_unit_test(packed_rules_say_what_was_packed),
        cmocka_unit_test(leaf_functions_return_by_the_register),
        cmocka_unit_test(other_rules_are_big),
        cmocka_unit_test(each_instruction_of_a_function_has_its_frame),
        cmocka_unit_test(frame_pointers_and_other_registers_count),
        cmocka_unit_test(loops_and_other_ways_out_are_passed),
        cmocka_unit_test(prologues_that_come_first_are_undone),
        cmocka_unit_test(a_call_that_never_returns_ends_a_way),
        cmocka_unit_test(the_first_stub_of_a_linkage_table_has_two_words),
        cmocka_unit_test(blocks_are_known_by_any_tag),
        cmocka_unit_test(callers_are_found_to_the_end),
        cmocka_unit_test(what_is_written_after_a_landing_holds_at_it),
        cmocka_unit_test(a_function_may_keep_its_return_address_in_another_register),
        cmocka_unit_test(what_cfi_tells_of_the_frame_to_jump_to_is_not_the_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
