/* SPDX-License-Identifier: MIT
 *
 * test_cfi.c: every CFA operation, encoding and expression form, from images that are assembled
 * here; and the same images cut off and corrupted at every byte, before a page that must not be
 * touched.
 *
 * Architecture: x86_64
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cfi_image.h"
#include "modules/module_cfi.h"
#include "unwind/reason.h"

#include <stdlib.h>
#include <sys/mman.h>

static pp_cfi_space space;

/* With nothing left in the space of what was read before: tests change images in place. */
static void compute_rule(const pp_image *from, uintptr_t pc, pp_rule *rule)
{
    pp_cfi_open(&space);
    pp_cfi_rule(from, pc, &space, rule);
}

enum {
    /* CFA operations, DWARF 5 section 7.24. */
    NOP = 0x00,
    SET_LOC = 0x01,
    ADVANCE_LOC1 = 0x02,
    ADVANCE_LOC2 = 0x03,
    ADVANCE_LOC4 = 0x04,
    OFFSET_EXTENDED = 0x05,
    RESTORE_EXTENDED = 0x06,
    UNDEFINED = 0x07,
    SAME_VALUE = 0x08,
    REGISTER = 0x09,
    REMEMBER_STATE = 0x0a,
    RESTORE_STATE = 0x0b,
    DEF_CFA = 0x0c,
    DEF_CFA_REGISTER = 0x0d,
    DEF_CFA_OFFSET = 0x0e,
    DEF_CFA_EXPRESSION = 0x0f,
    EXPRESSION = 0x10,
    OFFSET_EXTENDED_SF = 0x11,
    DEF_CFA_SF = 0x12,
    DEF_CFA_OFFSET_SF = 0x13,
    VAL_OFFSET = 0x14,
    VAL_OFFSET_SF = 0x15,
    VAL_EXPRESSION = 0x16,
    GNU_WINDOW_SAVE = 0x2d,
    GNU_ARGS_SIZE = 0x2e,
    GNU_NEGATIVE_OFFSET = 0x2f,
    /* Registers. */
    RAX = 0,
    RDX = 1,
    RBX = 3,
    RDI = 5,
    RBP = 6,
    RSP = 7,
    R10 = 10,
    RIP = 16,
    /* Expression operations. */
    OP_DEREF = 0x06,
    OP_CONST1U = 0x08,
    OP_AND = 0x1a,
    OP_MUL = 0x1e,
    OP_PLUS = 0x22,
    OP_PLUS_UCONST = 0x23,
    OP_SHL = 0x24,
    OP_GE = 0x2a,
    OP_LIT0 = 0x30,
    OP_BREG0 = 0x70,
    /* SLEB128 of one byte. */
    MINUS = 0x80 /* MINUS - n is -n for n <= 64 */
};

#define ADVANCE(n)     (0x40 | (n))
#define OFFSET(reg, n) (0x80 | (reg)), (n)
#define RESTORE(reg)   (0xc0 | (reg))
#define LIT(n)         (OP_LIT0 + (n))
#define BREG(n)        (OP_BREG0 + (n))

static uint8_t memory[CFI_IMAGE_BYTES];
static cfi_image image;

/* The rule `offset` bytes into the one function that has this program. */
static pp_rule rule_at(const cfi_options *options, cfi_bytes program, uintptr_t offset)
{
    pp_rule rule;
    cfi_begin(&image, memory, options, 1, (cfi_bytes){NULL, 0});
    cfi_add(&image, program);
    pp_image whole = cfi_whole(&image);
    compute_rule(&whole, cfi_code(&image, 0) + offset, &rule);
    return rule;
}

static void assert_equal_(int64_t a, int64_t b, const char *file, int line)
{
    _assert_int_equal((uintmax_t)a, (uintmax_t)b, file, line);
}

static void assert_cfa_(pp_rule rule, int reg, int offset, const char *file, int line)
{
    assert_equal_(rule.kind, PP_RULE_FRAME, file, line);
    assert_equal_(rule.cfa_read, false, file, line);
    assert_equal_(rule.cfa_reg, reg, file, line);
    assert_equal_(rule.cfa_offset, offset, file, line);
}

static void assert_where_(pp_where where, int kind, int reg, int offset, const char *file, int line)
{
    assert_equal_(where.kind, kind, file, line);
    if (kind == PP_WHERE_MEMORY || kind == PP_WHERE_REGISTER)
        assert_equal_(where.reg, reg, file, line);
    if (kind == PP_WHERE_CFA || kind == PP_WHERE_CFA_VALUE || kind == PP_WHERE_MEMORY)
        assert_equal_(where.offset, offset, file, line);
}

#define assert_cfa(rule, reg, offset) assert_cfa_(rule, reg, offset, __FILE__, __LINE__)
#define assert_where(where, kind, reg, offset)                                                     \
    assert_where_(where, kind, reg, offset, __FILE__, __LINE__)

/* ---- rows ---- */

static void cie_holds_where_the_fde_says_nothing(void **state)
{
    (void)state;
    pp_rule rule = rule_at(NULL, CFI(NOP), 0);
    assert_cfa(rule, RSP, 8);
    assert_where(rule.ra, PP_WHERE_CFA, 0, -8);
    assert_where(rule.fp, PP_WHERE_SAME, 0, 0);
    assert_where(rule.bx, PP_WHERE_SAME, 0, 0);
    assert_true(rule.permanent);
    rule = rule_at(NULL, CFI(NOP), CFI_RANGE - 1);
    assert_cfa(rule, RSP, 8);
}

static void row_begins_exactly_where_an_advance_puts_it(void **state)
{
    (void)state;
    const struct {
        cfi_bytes program;
        uintptr_t begins;
    } cases[] = {
        {CFI(ADVANCE(1), DEF_CFA_OFFSET, 16), 1},
        {CFI(ADVANCE(0x3f), DEF_CFA_OFFSET, 16), 0x3f},
        {CFI(ADVANCE_LOC1, 0xf0, DEF_CFA_OFFSET, 16), 0xf0},
        {CFI(ADVANCE_LOC2, 0x34, 0x00, DEF_CFA_OFFSET, 16), 0x34},
        {CFI(ADVANCE_LOC4, 0x56, 0x00, 0x00, 0x00, DEF_CFA_OFFSET, 16), 0x56},
        {CFI(ADVANCE(2), ADVANCE(0), ADVANCE(3), DEF_CFA_OFFSET, 16), 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pp_rule before = rule_at(NULL, cases[i].program, cases[i].begins - 1);
        pp_rule at = rule_at(NULL, cases[i].program, cases[i].begins);
        assert_cfa(before, RSP, 8);
        assert_cfa(at, RSP, 16);
    }
}

static void advances_use_all_their_bytes(void **state)
{
    (void)state;
    assert_cfa(rule_at(NULL, CFI(ADVANCE_LOC2, 0x00, 0x01, DEF_CFA_OFFSET, 16), 0xff), RSP, 8);
    assert_cfa(rule_at(NULL, CFI(ADVANCE_LOC4, 0, 0, 1, 0, DEF_CFA_OFFSET, 16), 0xff), RSP, 8);
    assert_cfa(rule_at(NULL, CFI(ADVANCE_LOC4, 0, 0, 0, 0x80, DEF_CFA_OFFSET, 16), 0xff), RSP, 8);
}

static void advances_are_scaled_by_the_code_alignment(void **state)
{
    (void)state;
    const cfi_options options = {.code_align = 4};
    assert_cfa(rule_at(&options, CFI(ADVANCE(3), DEF_CFA_OFFSET, 16), 11), RSP, 8);
    assert_cfa(rule_at(&options, CFI(ADVANCE(3), DEF_CFA_OFFSET, 16), 12), RSP, 16);
}

static void set_loc_names_an_address(void **state)
{
    (void)state;
    const cfi_options options = {.encoding = CFI_ABSPTR};
    uint64_t target = cfi_code(&(cfi_image){.bytes = memory}, 0) + 0x20;
    uint8_t program[] = {SET_LOC, 0, 0, 0, 0, 0, 0, 0, 0, DEF_CFA_OFFSET, 16};
    memcpy(program + 1, &target, sizeof target);
    assert_cfa(rule_at(&options, (cfi_bytes){program, sizeof program}, 0x1f), RSP, 8);
    assert_cfa(rule_at(&options, (cfi_bytes){program, sizeof program}, 0x20), RSP, 16);
}

static void several_rows_follow_each_other(void **state)
{
    (void)state;
    /* push rbp; mov rsp, rbp; push rbx; ...; pop; pop; ret */
    cfi_bytes program =
        CFI(ADVANCE(1), DEF_CFA_OFFSET, 16, OFFSET(RBP, 2), ADVANCE(3), DEF_CFA_REGISTER, RBP,
            ADVANCE(4), OFFSET(RBX, 3), ADVANCE(32), DEF_CFA, RSP, 8, RESTORE(RBP), RESTORE(RBX));
    pp_rule rule = rule_at(NULL, program, 3);
    assert_cfa(rule, RSP, 16);
    assert_where(rule.fp, PP_WHERE_CFA, 0, -16);
    rule = rule_at(NULL, program, 4);
    assert_cfa(rule, RBP, 16);
    assert_where(rule.bx, PP_WHERE_SAME, 0, 0);
    rule = rule_at(NULL, program, 20);
    assert_cfa(rule, RBP, 16);
    assert_where(rule.bx, PP_WHERE_CFA, 0, -24);
    rule = rule_at(NULL, program, 40);
    assert_cfa(rule, RSP, 8);
    assert_where(rule.fp, PP_WHERE_SAME, 0, 0);
    assert_where(rule.bx, PP_WHERE_SAME, 0, 0);
}

/* ---- remember and restore ---- */

static void remembered_rows_come_back_in_reverse(void **state)
{
    (void)state;
    cfi_bytes program = CFI(DEF_CFA_OFFSET, 16, OFFSET(RBP, 2), REMEMBER_STATE, ADVANCE(1),
                            DEF_CFA_OFFSET, 24, REMEMBER_STATE, ADVANCE(1), DEF_CFA, RBX, 64,
                            RESTORE(RBP), ADVANCE(1), RESTORE_STATE, ADVANCE(1), RESTORE_STATE);
    assert_cfa(rule_at(NULL, program, 0), RSP, 16);
    assert_cfa(rule_at(NULL, program, 1), RSP, 24);
    pp_rule rule = rule_at(NULL, program, 2);
    assert_cfa(rule, RBX, 64);
    assert_where(rule.fp, PP_WHERE_SAME, 0, 0);
    rule = rule_at(NULL, program, 3);
    assert_cfa(rule, RSP, 24); /* the CFA is part of what is remembered */
    assert_where(rule.fp, PP_WHERE_CFA, 0, -16);
    assert_cfa(rule_at(NULL, program, 4), RSP, 16);
}

static void four_rows_are_remembered_but_not_without_end(void **state)
{
    (void)state;
    uint8_t program[64] = {0};
    for (size_t depth = 1; depth <= 8; depth++) {
        memset(program, NOP, sizeof program);
        memset(program, REMEMBER_STATE, depth);
        memset(program + depth, RESTORE_STATE, depth);
        pp_rule rule = rule_at(NULL, (cfi_bytes){program, sizeof program}, 0);
        if (depth <= 4)
            assert_cfa(rule, RSP, 8);
        else
            assert_true(rule.kind == PP_RULE_NONE || rule.kind == PP_RULE_FRAME);
    }
    memset(program, REMEMBER_STATE, sizeof program);
    assert_int_equal(rule_at(NULL, (cfi_bytes){program, sizeof program}, 0).kind, PP_RULE_NONE);
}

static void nothing_comes_back_that_was_not_remembered(void **state)
{
    (void)state;
    assert_int_equal(rule_at(NULL, CFI(RESTORE_STATE), 0).kind, PP_RULE_NONE);
    assert_int_equal(rule_at(NULL, CFI(REMEMBER_STATE, RESTORE_STATE, RESTORE_STATE), 0).kind,
                     PP_RULE_NONE);
}

static void restore_means_what_the_cie_said(void **state)
{
    (void)state;
    pp_rule rule;
    cfi_begin(&image, memory, NULL, 1, CFI(OFFSET(RBP, 5)));
    cfi_add(&image, CFI(OFFSET(RBP, 2), OFFSET(RBX, 3), OFFSET(RIP, 4), ADVANCE(1), RESTORE(RBP),
                        RESTORE_EXTENDED, RBX, RESTORE_EXTENDED, RIP));
    pp_image whole = cfi_whole(&image);
    compute_rule(&whole, cfi_code(&image, 0), &rule);
    assert_where(rule.fp, PP_WHERE_CFA, 0, -16);
    assert_where(rule.ra, PP_WHERE_CFA, 0, -32);
    compute_rule(&whole, cfi_code(&image, 0) + 1, &rule);
    assert_where(rule.fp, PP_WHERE_CFA, 0, -40);
    assert_where(rule.bx, PP_WHERE_SAME, 0, 0);
    assert_where(rule.ra, PP_WHERE_CFA, 0, -8);
}

static void restore_in_the_cie_itself_is_harmless(void **state)
{
    (void)state;
    pp_rule rule;
    cfi_begin(&image, memory, NULL, 1, CFI(RESTORE(RBP), RESTORE(RBX)));
    cfi_add(&image, CFI(NOP));
    pp_image whole = cfi_whole(&image);
    compute_rule(&whole, cfi_code(&image, 0), &rule);
    assert_cfa(rule, RSP, 8);
    assert_where(rule.fp, PP_WHERE_SAME, 0, 0);
}

/* ---- single operations ---- */

static void cfa_is_defined_in_every_way(void **state)
{
    (void)state;
    assert_cfa(rule_at(NULL, CFI(DEF_CFA, RBP, 16), 0), RBP, 16);
    assert_cfa(rule_at(NULL, CFI(DEF_CFA, R10, 0), 0), R10, 0);
    assert_cfa(rule_at(NULL, CFI(DEF_CFA, RSP, 0x90, 0x02), 0), RSP, 0x110);
    assert_cfa(rule_at(NULL, CFI(DEF_CFA_REGISTER, RBX), 0), RBX, 8);
    assert_cfa(rule_at(NULL, CFI(DEF_CFA_OFFSET, 0xff, 0xff, 0x03), 0), RSP, 0xffff);
    assert_cfa(rule_at(NULL, CFI(DEF_CFA_SF, RBP, MINUS - 2), 0), RBP, 16);
    assert_cfa(rule_at(NULL, CFI(DEF_CFA_SF, RBP, 2), 0), RBP, -16);
    assert_cfa(rule_at(NULL, CFI(DEF_CFA_OFFSET_SF, MINUS - 3), 0), RSP, 24);
}

static void cfa_out_of_reach_is_no_rule(void **state)
{
    (void)state;
    assert_int_equal(rule_at(NULL, CFI(DEF_CFA, 17, 8), 0).kind, PP_RULE_NONE);
    assert_int_equal(rule_at(NULL, CFI(DEF_CFA, RIP, 8), 0).kind, PP_RULE_NONE);
    assert_int_equal(rule_at(NULL, CFI(DEF_CFA_OFFSET, 0x80, 0x80, 0x80, 0x80, 0x08), 0).kind,
                     PP_RULE_NONE);
    /* ... but what follows may put it right. */
    assert_cfa(rule_at(NULL, CFI(DEF_CFA, 17, 8, ADVANCE(1), DEF_CFA, RSP, 8), 1), RSP, 8);
    const cfi_options options = {.no_initial_program = true};
    assert_int_equal(rule_at(&options, CFI(OFFSET(RIP, 1)), 0).kind, PP_RULE_NONE);
}

static void registers_are_placed_in_every_way(void **state)
{
    (void)state;
    assert_where(rule_at(NULL, CFI(OFFSET(RBP, 2)), 0).fp, PP_WHERE_CFA, 0, -16);
    assert_where(rule_at(NULL, CFI(OFFSET_EXTENDED, RBX, 3), 0).bx, PP_WHERE_CFA, 0, -24);
    assert_where(rule_at(NULL, CFI(OFFSET_EXTENDED_SF, RBX, 3), 0).bx, PP_WHERE_CFA, 0, -24);
    assert_where(rule_at(NULL, CFI(OFFSET_EXTENDED_SF, RBX, MINUS - 3), 0).bx, PP_WHERE_CFA, 0, 24);
    assert_where(rule_at(NULL, CFI(GNU_NEGATIVE_OFFSET, RBX, 3), 0).bx, PP_WHERE_CFA, 0, 24);
    assert_where(rule_at(NULL, CFI(VAL_OFFSET, RBP, 2), 0).fp, PP_WHERE_CFA_VALUE, 0, -16);
    assert_where(rule_at(NULL, CFI(VAL_OFFSET_SF, RBP, MINUS - 2), 0).fp, PP_WHERE_CFA_VALUE, 0,
                 16);
    assert_where(rule_at(NULL, CFI(REGISTER, RBP, RDX), 0).fp, PP_WHERE_REGISTER, RDX, 0);
    assert_where(rule_at(NULL, CFI(REGISTER, RIP, RDI), 0).ra, PP_WHERE_REGISTER, RDI, 0);
    assert_where(rule_at(NULL, CFI(REGISTER, RBP, 40), 0).fp, PP_WHERE_BEYOND, 0, 0);
    assert_where(rule_at(NULL, CFI(UNDEFINED, RBP), 0).fp, PP_WHERE_LOST, 0, 0);
    assert_where(rule_at(NULL, CFI(OFFSET(RBP, 2), SAME_VALUE, RBP), 0).fp, PP_WHERE_SAME, 0, 0);
    assert_where(rule_at(NULL, CFI(OFFSET_EXTENDED, RBP, 0x80, 0x80, 0x80, 0x80, 0x02), 0).fp,
                 PP_WHERE_BEYOND, 0, 0);
}

static void other_registers_do_not_matter(void **state)
{
    (void)state;
    pp_rule rule =
        rule_at(NULL,
                CFI(OFFSET(12, 4), OFFSET(15, 5), OFFSET_EXTENDED, 0x90, 0x01, 3, UNDEFINED, 13,
                    REGISTER, 14, 2, SAME_VALUE, 12, RESTORE(15), EXPRESSION, 12, 1, OP_LIT0),
                0);
    assert_cfa(rule, RSP, 8);
    assert_where(rule.fp, PP_WHERE_SAME, 0, 0);
    assert_where(rule.bx, PP_WHERE_SAME, 0, 0);
    assert_where(rule.ra, PP_WHERE_CFA, 0, -8);
}

static void undefined_return_address_is_the_end(void **state)
{
    (void)state;
    assert_int_equal(rule_at(NULL, CFI(UNDEFINED, RIP), 0).kind, PP_RULE_END);
    assert_int_equal(rule_at(NULL, CFI(ADVANCE(4), UNDEFINED, RIP), 3).kind, PP_RULE_FRAME);
    assert_int_equal(rule_at(NULL, CFI(ADVANCE(4), UNDEFINED, RIP), 4).kind, PP_RULE_END);
}

/* "Nobody calls this" and "the caller is where no rule can say" are different things. */
static void return_address_beyond_the_rules_is_not_the_end(void **state)
{
    (void)state;
    assert_int_equal(rule_at(NULL, CFI(EXPRESSION, RIP, 4, BREG(RDX), 0, LIT(2), OP_MUL), 0).kind,
                     PP_RULE_NONE);
    assert_int_equal(rule_at(NULL, CFI(REGISTER, RIP, 40), 0).kind, PP_RULE_NONE);
    assert_int_equal(rule_at(NULL, CFI(OFFSET_EXTENDED, RIP, 0x80, 0x80, 0x80, 0x80, 0x02), 0).kind,
                     PP_RULE_NONE);
    assert_int_equal(
        rule_at(NULL, CFI(REGISTER, RIP, 40, ADVANCE(1), RESTORE_EXTENDED, RIP), 1).kind,
        PP_RULE_FRAME);
}

/* ---- callers whose SP is not the CFA: `cfa` of the rule is that SP ---- */

static void jump_to_another_frame_takes_its_stack_pointer(void **state)
{
    (void)state;
    /* __longjmp: rdi is the jmp_buf, rsp in r8, rbp in r9, rip in rdx, rbx in the buffer. */
    pp_rule rule = rule_at(NULL,
                           CFI(DEF_CFA, RDI, 8, REGISTER, RSP, 8, REGISTER, RBP, 9, REGISTER, RIP,
                               RDX, OFFSET(RBX, 2)),
                           0);
    assert_cfa(rule, 8, 0);
    assert_where(rule.ra, PP_WHERE_REGISTER, RDX, 0);
    assert_where(rule.fp, PP_WHERE_REGISTER, 9, 0);
    assert_where(rule.bx, PP_WHERE_MEMORY, RDI, -8);
}

static void context_in_memory_has_the_stack_pointer_too(void **state)
{
    (void)state;
    /* setcontext: rdi is the ucontext_t. */
    pp_rule rule =
        rule_at(NULL,
                CFI(DEF_CFA, RDI, 0, OFFSET_EXTENDED_SF, RSP, MINUS - 20, OFFSET_EXTENDED_SF, RBP,
                    MINUS - 15, OFFSET_EXTENDED_SF, RIP, MINUS - 21),
                0);
    assert_int_equal(rule.kind, PP_RULE_FRAME);
    assert_true(rule.cfa_read);
    assert_int_equal(rule.cfa_reg, RDI);
    assert_int_equal(rule.cfa_offset, 160);
    assert_int_equal(rule.cfa_addend, 0);
    assert_where(rule.ra, PP_WHERE_MEMORY, RDI, 168);
    assert_where(rule.fp, PP_WHERE_MEMORY, RDI, 120);
    assert_where(rule.bx, PP_WHERE_SAME, 0, 0);
    /* A context whose address is itself read cannot hold the return address too. */
    assert_int_equal(
        rule_at(NULL, CFI(DEF_CFA_EXPRESSION, 3, BREG(RSP), 8, OP_DEREF, REGISTER, RSP, RDX), 0)
            .kind,
        PP_RULE_NONE);
}

static void stack_pointer_may_lie_above_the_cfa(void **state)
{
    (void)state;
    pp_rule rule = rule_at(NULL, CFI(OFFSET(RBP, 2), VAL_OFFSET_SF, RSP, MINUS - 4), 0);
    assert_cfa(rule, RSP, 40);
    assert_where(rule.ra, PP_WHERE_CFA, 0, -40);
    assert_where(rule.fp, PP_WHERE_CFA, 0, -48);
    /* The Haskell run-time's way to say it. */
    rule = rule_at(NULL,
                   CFI(DEF_CFA, RSP, 0, VAL_EXPRESSION, RSP, 3, BREG(RSP), 0xb8, 0x01,
                       OFFSET_EXTENDED_SF, RBX, MINUS - 20, OFFSET_EXTENDED_SF, RIP, MINUS - 22),
                   0);
    assert_cfa(rule, RSP, 184);
    assert_where(rule.ra, PP_WHERE_MEMORY, RSP, 176);
    assert_where(rule.bx, PP_WHERE_MEMORY, RSP, 160);
    /* The CFA was read from memory: so is the SP beside it. */
    rule = rule_at(
        NULL,
        CFI(DEF_CFA_EXPRESSION, 3, BREG(RBP), MINUS - 8, OP_DEREF, VAL_OFFSET_SF, RSP, MINUS - 1),
        0);
    assert_int_equal(rule.kind, PP_RULE_FRAME);
    assert_true(rule.cfa_read);
    assert_int_equal(rule.cfa_offset, -8);
    assert_int_equal(rule.cfa_addend, 8);
    assert_where(rule.ra, PP_WHERE_CFA, 0, -16);
    /* In rsp as it is. */
    rule = rule_at(NULL, CFI(SAME_VALUE, RSP), 0);
    assert_cfa(rule, RSP, 0);
    assert_where(rule.ra, PP_WHERE_MEMORY, RSP, 0);
}

static void stack_pointer_is_remembered_and_restored(void **state)
{
    (void)state;
    cfi_bytes program =
        CFI(REMEMBER_STATE, VAL_OFFSET_SF, RSP, MINUS - 4, ADVANCE(1), RESTORE_STATE, ADVANCE(1),
            VAL_OFFSET_SF, RSP, MINUS - 2, ADVANCE(1), RESTORE(RSP));
    assert_cfa(rule_at(NULL, program, 0), RSP, 40);
    assert_cfa(rule_at(NULL, program, 1), RSP, 8);
    assert_cfa(rule_at(NULL, program, 2), RSP, 24);
    assert_cfa(rule_at(NULL, program, 3), RSP, 8);
}

static void stack_pointer_that_nobody_knows_makes_no_rule(void **state)
{
    (void)state;
    assert_int_equal(rule_at(NULL, CFI(UNDEFINED, RSP), 0).kind, PP_RULE_NONE);
    assert_int_equal(rule_at(NULL, CFI(REGISTER, RSP, 40), 0).kind, PP_RULE_NONE);
    assert_int_equal(
        rule_at(NULL, CFI(VAL_EXPRESSION, RSP, 4, BREG(RDX), 0, LIT(2), OP_MUL), 0).kind,
        PP_RULE_NONE);
    assert_int_equal(rule_at(NULL, CFI(VAL_OFFSET, RSP, 0x80, 0x80, 0x80, 0x01), 0).kind,
                     PP_RULE_NONE);
    const cfi_options unscaled = {.data_align = 1};
    assert_int_equal(
        rule_at(&unscaled, CFI(DEF_CFA, RSP, 0xff, 0xff, 0xff, 0xff, 0x07, VAL_OFFSET, RSP, 1), 0)
            .kind,
        PP_RULE_NONE); /* 2^31 - 1 and one more */
}

static void operations_without_meaning_here_are_passed_over(void **state)
{
    (void)state;
    assert_cfa(rule_at(NULL, CFI(GNU_ARGS_SIZE, 0x90, 0x01, DEF_CFA_OFFSET, 32), 0), RSP, 32);
    assert_cfa(rule_at(NULL, CFI(NOP, GNU_WINDOW_SAVE, NOP, DEF_CFA_OFFSET, 32), 0), RSP, 32);
}

static void unknown_operations_make_no_rule(void **state)
{
    (void)state;
    static const uint8_t unknown[] = {0x17, 0x1c, 0x1d, 0x20, 0x2c, 0x30, 0x3f};
    for (size_t i = 0; i < sizeof unknown; i++) {
        assert_int_equal(rule_at(NULL, CFI(unknown[i]), 0).kind, PP_RULE_NONE);
        /* Not reached for an earlier PC. */
        assert_cfa(rule_at(NULL, CFI(ADVANCE(4), unknown[i]), 3), RSP, 8);
    }
}

/* ---- expressions ---- */

static void plt_rule_depends_on_the_place_in_the_entry(void **state)
{
    (void)state;
    /* rsp + 8 + ((rip & 15) >= 11) * 8, as the linkers write it. */
    cfi_bytes program = CFI(DEF_CFA_EXPRESSION, 11, BREG(RSP), 8, BREG(RIP), 0, LIT(15), OP_AND,
                            LIT(11), OP_GE, LIT(3), OP_SHL, OP_PLUS);
    for (uintptr_t at = 0; at < 48; at++)
        assert_cfa(rule_at(NULL, program, at), RSP, at % 16 >= 11 ? 16 : 8);
}

static void realigned_stack_is_found_through_memory(void **state)
{
    (void)state;
    /* lea 8(%rsp), %r10; and $-32, %rsp; push -8(%r10); push %rbp; mov %rsp, %rbp; push %r10; push
     * %rbx; ...; pop; lea -8(%r10), %rsp; ret */
    cfi_bytes program =
        CFI(ADVANCE(5), DEF_CFA, R10, 0, ADVANCE(12), EXPRESSION, RBP, 2, BREG(RBP), 0, ADVANCE(4),
            DEF_CFA_EXPRESSION, 3, BREG(RBP), MINUS - 8, OP_DEREF, EXPRESSION, RBX, 2, BREG(RBP),
            MINUS - 16, ADVANCE(40), DEF_CFA, R10, 0, ADVANCE(1), DEF_CFA, RSP, 8);
    pp_rule rule = rule_at(NULL, program, 5);
    assert_cfa(rule, R10, 0);
    rule = rule_at(NULL, program, 30);
    assert_int_equal(rule.kind, PP_RULE_FRAME);
    assert_true(rule.cfa_read);
    assert_int_equal(rule.cfa_reg, RBP);
    assert_int_equal(rule.cfa_offset, -8);
    assert_int_equal(rule.cfa_addend, 0);
    assert_where(rule.fp, PP_WHERE_MEMORY, RBP, 0);
    assert_where(rule.bx, PP_WHERE_MEMORY, RBP, -16);
    assert_where(rule.ra, PP_WHERE_CFA, 0, -8);
    assert_cfa(rule_at(NULL, program, 61), R10, 0);
    assert_cfa(rule_at(NULL, program, 62), RSP, 8);
}

static void old_stack_pointer_kept_in_memory_is_followed(void **state)
{
    (void)state;
    /* libcrypto: the CFA is *(rsp + 152) + 8. */
    cfi_bytes program = CFI(DEF_CFA_EXPRESSION, 6, BREG(RSP), 0x98, 0x01, OP_DEREF, OP_PLUS_UCONST,
                            8, OFFSET(RBP, 3), OFFSET(RBX, 2));
    pp_rule rule = rule_at(NULL, program, 0);
    assert_int_equal(rule.kind, PP_RULE_FRAME);
    assert_true(rule.cfa_read);
    assert_int_equal(rule.cfa_reg, RSP);
    assert_int_equal(rule.cfa_offset, 152);
    assert_int_equal(rule.cfa_addend, 8);
    assert_where(rule.fp, PP_WHERE_CFA, 0, -24);
    assert_where(rule.bx, PP_WHERE_CFA, 0, -16);
    /* A definition in the usual form ends it. */
    rule = rule_at(
        NULL, CFI(DEF_CFA_EXPRESSION, 3, BREG(RSP), 16, OP_DEREF, ADVANCE(1), DEF_CFA, RSP, 8), 1);
    assert_cfa(rule, RSP, 8);
    assert_int_equal(rule.cfa_addend, 0);
}

static void expressions_place_registers(void **state)
{
    (void)state;
    pp_rule rule = rule_at(NULL, CFI(EXPRESSION, RBP, 2, OP_PLUS_UCONST, 16), 0);
    assert_where(rule.fp, PP_WHERE_CFA, 0, 16); /* on the CFA, which is pushed first */
    rule = rule_at(NULL, CFI(EXPRESSION, RBX, 2, BREG(RDI), 24), 0);
    assert_where(rule.bx, PP_WHERE_MEMORY, RDI, 24);
    rule = rule_at(NULL, CFI(VAL_EXPRESSION, RBP, 2, OP_PLUS_UCONST, 16), 0);
    assert_where(rule.fp, PP_WHERE_CFA_VALUE, 0, 16);
    rule = rule_at(NULL, CFI(VAL_EXPRESSION, RBP, 2, BREG(RDX), 0), 0);
    assert_where(rule.fp, PP_WHERE_REGISTER, RDX, 0);
    rule = rule_at(NULL, CFI(VAL_EXPRESSION, RBP, 2, BREG(RDX), 8), 0);
    assert_where(rule.fp, PP_WHERE_BEYOND, 0, 0);
    rule = rule_at(NULL, CFI(VAL_EXPRESSION, RBP, 3, BREG(RDX), 8, OP_DEREF), 0);
    assert_where(rule.fp, PP_WHERE_MEMORY, RDX, 8);
    rule = rule_at(NULL, CFI(VAL_EXPRESSION, RBP, 3, OP_PLUS_UCONST, 8, OP_DEREF), 0);
    assert_where(rule.fp, PP_WHERE_CFA, 0, 8);
    rule = rule_at(NULL, CFI(EXPRESSION, RBP, 1, LIT(5)), 0);
    assert_where(rule.fp, PP_WHERE_BEYOND, 0, 0);
}

static void expression_that_does_not_reduce_costs_its_register_only(void **state)
{
    (void)state;
    pp_rule rule =
        rule_at(NULL, CFI(EXPRESSION, RBP, 4, BREG(RDX), 0, LIT(2), OP_MUL, OFFSET(RBX, 2)), 0);
    assert_cfa(rule, RSP, 8);
    assert_where(rule.fp, PP_WHERE_BEYOND, 0, 0);
    assert_where(rule.bx, PP_WHERE_CFA, 0, -16);
    rule = rule_at(NULL, CFI(DEF_CFA_EXPRESSION, 4, BREG(RDX), 0, LIT(2), OP_MUL), 0);
    assert_int_equal(rule.kind, PP_RULE_NONE);
    rule = rule_at(NULL, CFI(DEF_CFA_EXPRESSION, 2, OP_CONST1U, 8), 0);
    assert_int_equal(rule.kind, PP_RULE_NONE); /* a CFA that is a number */
    rule = rule_at(
        NULL,
        CFI(DEF_CFA_EXPRESSION, 4, BREG(RDX), 0, LIT(2), OP_MUL, ADVANCE(2), DEF_CFA, RSP, 24), 2);
    assert_cfa(rule, RSP, 24);
}

static void expression_longer_than_its_program_makes_no_rule(void **state)
{
    (void)state;
    assert_int_equal(rule_at(NULL, CFI(EXPRESSION, RBP, 100, BREG(RDX), 0), 0).kind, PP_RULE_NONE);
    assert_int_equal(
        rule_at(NULL,
                CFI(DEF_CFA_EXPRESSION, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01),
                0)
            .kind,
        PP_RULE_NONE);
}

/* ---- CIE and FDE ---- */

static void signal_frames_are_marked(void **state)
{
    (void)state;
    const cfi_options options = {.augmentation = "zRS"};
    assert_int_equal(rule_at(&options, CFI(NOP), 0).kind, PP_RULE_SIGNAL);
    assert_int_equal(rule_at(&options, CFI(NOP), CFI_RANGE).kind, PP_RULE_NONE);
}

static void long_lengths_are_read(void **state)
{
    (void)state;
    const cfi_options options = {.wide = true};
    assert_cfa(rule_at(&options, CFI(ADVANCE(1), DEF_CFA_OFFSET, 16), 0), RSP, 8);
    assert_cfa(rule_at(&options, CFI(ADVANCE(1), DEF_CFA_OFFSET, 16), 1), RSP, 16);
}

static void addresses_are_read_in_every_encoding(void **state)
{
    (void)state;
    static const uint8_t encodings[] = {
        CFI_ABSPTR, 0x04, 0x0c,             /* 8 bytes, absolute */
        0x1b,       0x13, 0x1c, 0x14, 0x10, /* relative to themselves */
        0x3b,       0x33, 0x3c,             /* relative to the header */
        0x01,       0x09, 0x11, 0x31,       /* LEB128 */
        0x50,                               /* 8 bytes, aligned */
    };
    for (size_t i = 0; i < sizeof encodings; i++) {
        const cfi_options options = {.encoding = encodings[i]};
        assert_cfa(rule_at(&options, CFI(ADVANCE(1), DEF_CFA_OFFSET, 16), 1), RSP, 16);
        assert_int_equal(rule_at(&options, CFI(NOP), CFI_RANGE).kind, PP_RULE_NONE);
    }
}

static void addresses_may_be_indirect(void **state)
{
    (void)state;
    static const uint8_t encodings[] = {0x9b, 0x9c, 0x80};
    for (size_t i = 0; i < sizeof encodings; i++) {
        const cfi_options options = {.encoding = encodings[i]};
        pp_rule rule = rule_at(&options, CFI(ADVANCE(1), DEF_CFA_OFFSET, 16), 1);
        assert_int_equal(rule.kind, PP_RULE_NONE); /* the word is a table entry still */
        cfi_patch(&image, CFI_INDIRECT_AT, cfi_code(&image, 0), 8);
        pp_image whole = cfi_without_header(&image);
        compute_rule(&whole, cfi_code(&image, 0) + 1, &rule);
        assert_cfa(rule, RSP, 16);
        whole.lo += CFI_INDIRECT_AT + 1; /* a word that cannot be read whole */
        compute_rule(&whole, cfi_code(&image, 0) + 1, &rule);
        assert_int_equal(rule.kind, PP_RULE_NONE);
    }
}

static void unknown_encodings_make_no_rule(void **state)
{
    (void)state;
    static const uint8_t encodings[] = {0x05, 0x0f, 0x20 | 0x0b, 0x40 | 0x0b, 0x5b, 0xff};
    for (size_t i = 0; i < sizeof encodings; i++) {
        const cfi_options options = {.encoding = encodings[i]};
        assert_int_equal(rule_at(&options, CFI(NOP), 0).kind, PP_RULE_NONE);
    }
}

static void augmentations_are_skipped_by_their_size(void **state)
{
    (void)state;
    const cfi_options options[] = {
        {.augmentation = "zPLR", .augmentation_data = CFI(0x9b, 1, 2, 3, 4, 0x1b, 0x1b)},
        {.augmentation = "zPLR",
         .augmentation_data = CFI(0x00, 1, 2, 3, 4, 5, 6, 7, 8, 0x1b, 0x1b)},
        {.augmentation = "zLR", .augmentation_data = CFI(0xff, 0x1b)},
        {.augmentation = "zR", .augmentation_data = CFI(0x1b, 9, 9, 9)},
        {.augmentation = "zRQ", .augmentation_data = CFI(0x1b, 9)},
        {.augmentation = "zRBG", .augmentation_data = CFI(0x1b)},
        {.augmentation = "", .encoding = CFI_ABSPTR},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        assert_cfa(rule_at(&options[i], CFI(DEF_CFA_OFFSET, 48), 0), RSP, 48);
}

static void augmentations_of_the_stone_age_make_no_rule(void **state)
{
    (void)state;
    const cfi_options options[] = {
        {.augmentation = "eh"},
        {.augmentation = "R"},
        {.augmentation = "zRRRRRRRR"},
        {.augmentation = "zP", .augmentation_data = CFI(0x9b, 1)},
        {.augmentation = "zPLR", .augmentation_data = CFI(0xff, 0x1b, 0x1b)},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        assert_int_equal(rule_at(&options[i], CFI(NOP), 0).kind, PP_RULE_NONE);
}

static void cie_versions_and_return_register_are_checked(void **state)
{
    (void)state;
    for (uint8_t version = 0; version < 8; version++) {
        const cfi_options options = {.version = version};
        pp_rule rule = rule_at(&options, CFI(NOP), 0);
        assert_int_equal(rule.kind, version <= 1 || version == 3 ? PP_RULE_FRAME : PP_RULE_NONE);
    }
    const cfi_options other = {.return_register = 15};
    assert_int_equal(rule_at(&other, CFI(NOP), 0).kind, PP_RULE_NONE);
}

static void data_alignment_scales_offsets(void **state)
{
    (void)state;
    const cfi_options options = {.data_align = 0x7c}; /* -4 */
    assert_where(rule_at(&options, CFI(OFFSET(RBP, 4)), 0).fp, PP_WHERE_CFA, 0, -16);
}

/* ---- the table ---- */

static void assert_functions(const pp_image *whole, size_t functions)
{
    pp_rule rule;
    for (size_t i = 0; i < functions; i++) {
        uintptr_t start = cfi_code(&image, i);
        compute_rule(whole, start, &rule);
        assert_cfa(rule, RSP, 8 + (int)i);
        compute_rule(whole, start + CFI_RANGE - 1, &rule);
        assert_cfa(rule, RSP, 8 + (int)i);
        compute_rule(whole, start + CFI_RANGE, &rule);
        assert_int_equal(rule.kind, PP_RULE_NONE);
        compute_rule(whole, start - 1, &rule);
        assert_int_equal(rule.kind, PP_RULE_NONE);
    }
    compute_rule(whole, 0, &rule);
    assert_int_equal(rule.kind, PP_RULE_NONE);
    compute_rule(whole, UINTPTR_MAX, &rule);
    assert_int_equal(rule.kind, PP_RULE_NONE);
}

/* The table of a removable image is searched chunk by chunk: the longest ones have two or more. */
static void every_function_is_found_and_no_gap(void **state)
{
    (void)state;
    for (size_t functions = 1; functions <= 100; functions += 1 + functions / 34 * 10) {
        cfi_begin(&image, memory, NULL, functions, (cfi_bytes){NULL, 0});
        for (size_t i = 0; i < functions; i++)
            cfi_add(&image, CFI(DEF_CFA_OFFSET, (uint8_t)(8 + i)));
        pp_image whole = cfi_whole(&image);
        assert_functions(&whole, functions);
        whole.permanent = false;
        assert_functions(&whole, functions);
    }
}

static void headers_of_another_kind_make_no_rule(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint8_t value;
    } changes[] = {{0, 0}, {0, 2}, {1, 0x5b}, {2, 0x05}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        pp_rule rule = rule_at(NULL, CFI(NOP), 0);
        assert_cfa(rule, RSP, 8);
        memory[changes[i].at] = changes[i].value;
        pp_image whole = cfi_whole(&image);
        compute_rule(&whole, cfi_code(&image, 0), &rule);
        assert_int_equal(rule.kind, PP_RULE_NONE);
    }
    pp_rule rule = rule_at(NULL, CFI(NOP), 0);
    pp_image none = cfi_whole(&image);
    none.header = 0;
    compute_rule(&none, cfi_code(&image, 0), &rule);
    assert_int_equal(rule.kind, PP_RULE_NONE);
    cfi_patch(&image, 8, UINT32_MAX, 4); /* more entries than there are bytes */
    pp_image whole = cfi_whole(&image);
    compute_rule(&whole, cfi_code(&image, 0), &rule);
    assert_int_equal(rule.kind, PP_RULE_NONE);
    cfi_patch(&image, 8, 0, 4);
    compute_rule(&whole, cfi_code(&image, 0), &rule);
    assert_int_equal(rule.kind, PP_RULE_NONE);
}

static void an_image_without_a_rule_says_why(void **state)
{
    (void)state;
    pp_rule rule = rule_at(NULL, CFI(NOP), CFI_RANGE);
    assert_int_equal(rule.why, PP_NOT_COVERED);
    pp_image whole = cfi_whole(&image);
    compute_rule(&whole, 0, &rule);
    assert_int_equal(rule.why, PP_NOT_COVERED);
    whole.header = 0;
    compute_rule(&whole, cfi_code(&image, 0), &rule);
    assert_int_equal(rule.why, PP_NO_TABLES);
    whole = cfi_whole(&image);
    cfi_patch(&image, 8, UINT32_MAX, 4); /* more entries than there are bytes */
    compute_rule(&whole, cfi_code(&image, 0), &rule);
    assert_int_equal(rule.why, PP_BAD_INDEX);
    whole.permanent = false; /* to be searched by copies, of which each costs a system call */
    compute_rule(&whole, cfi_code(&image, 0), &rule);
    assert_int_equal(rule.why, PP_NO_INDEX);
}

static void an_entry_without_a_rule_says_why(void **state)
{
    (void)state;
    const cfi_options version = {.version = 2};
    const cfi_options return_register = {.return_register = 15};
    assert_int_equal(rule_at(&version, CFI(NOP), 0).why, PP_BAD_ENTRY);
    assert_int_equal(rule_at(&return_register, CFI(NOP), 0).why, PP_BAD_ENTRY);
    assert_int_equal(rule_at(NULL, CFI(RESTORE_STATE), 0).why, PP_BAD_PROGRAM);
    assert_int_equal(rule_at(NULL, CFI(0x3f), 0).why, PP_BAD_PROGRAM);
    assert_int_equal(rule_at(NULL, CFI(DEF_CFA, RIP, 8), 0).why, PP_CFA_EXPRESSION);
    assert_int_equal(rule_at(NULL, CFI(REGISTER, RIP, 40), 0).why, PP_RETURN_EXPRESSION);
    assert_int_equal(rule_at(NULL, CFI(UNDEFINED, RSP), 0).why, PP_SP_EXPRESSION);
}

/* ---- no table ---- */

static void make_functions(size_t functions)
{
    cfi_begin(&image, memory, NULL, functions, (cfi_bytes){NULL, 0});
    for (size_t i = 0; i < functions; i++)
        cfi_add(&image, CFI(DEF_CFA_OFFSET, (uint8_t)(8 + i)));
}

static void assert_all_are_found(const pp_image *whole)
{
    pp_rule rule;
    for (size_t i = 0; i < image.functions; i++) {
        uintptr_t start = cfi_code(&image, i);
        compute_rule(whole, start, &rule);
        assert_cfa(rule, RSP, 8 + (int)i);
        compute_rule(whole, start + CFI_RANGE - 1, &rule);
        assert_cfa(rule, RSP, 8 + (int)i);
        compute_rule(whole, start + CFI_RANGE, &rule);
        assert_int_equal(rule.kind, PP_RULE_NONE);
    }
}

static void frames_without_a_header_are_found_in_place_only(void **state)
{
    (void)state;
    make_functions(20);
    pp_image whole = cfi_without_header(&image);
    assert_all_are_found(&whole);
    /* Of a module that may go away, each entry would cost a system call. */
    pp_rule rule;
    whole.permanent = false;
    compute_rule(&whole, cfi_code(&image, 0), &rule);
    assert_int_equal(rule.kind, PP_RULE_NONE);
}

/* The list of the FDEs of an image without table, in order; the image has it then. */
static pp_keyed *list_frames(pp_image *whole)
{
    enum { SPARE = 3 };
    const pp_module module = {.cfi_lo = whole->lo,
                              .cfi_hi = whole->hi,
                              .eh_frame_hdr = whole->header,
                              .permanent = whole->permanent};
    size_t count = pp_module_list_frames(&module, NULL, NULL, 0);
    assert_true(count > 0);
    pp_keyed *list = calloc(2 * count + SPARE, sizeof *list);
    assert_int_equal(pp_module_list_frames(&module, NULL, list, count - 1), count);
    assert_int_equal(list[count - 1].key, 0); /* no more than there is room for */
    assert_int_equal(pp_module_list_frames(&module, NULL, list, count + SPARE), count);
    pp_key_sort(list, list + count + SPARE, count);
    whole->frames = list;
    whole->frame_count = count;
    return list;
}

static void frames_that_were_listed_are_found(void **state)
{
    (void)state;
    for (int permanent = 0; permanent <= 1; permanent++) {
        make_functions(20);
        pp_image whole = cfi_without_header(&image);
        whole.permanent = permanent;
        pp_keyed *list = list_frames(&whole);
        assert_int_equal(whole.frame_count, 20);
        assert_all_are_found(&whole);
        pp_rule rule;
        compute_rule(&whole, cfi_code(&image, 0) - 1, &rule);
        assert_int_equal(rule.kind, PP_RULE_NONE);
        assert_int_equal(rule.why, PP_NOT_COVERED);
        free(list);
    }
}

static void tables_that_are_missing_or_encoded_otherwise_are_done_without(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint8_t value;
    } changes[] = {{2, 0xff}, {3, 0xff}, {3, 0x1b}, {3, 0x3c}, {3, 0x33}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        make_functions(20);
        memory[changes[i].at] = changes[i].value;
        memset(memory + CFI_HEADER_BYTES, 0xee, 20 * 8);
        pp_image whole = cfi_whole(&image);
        assert_all_are_found(&whole);
        memory[1] = 0xff; /* nor is it said where .eh_frame is */
        pp_rule rule;
        compute_rule(&whole, cfi_code(&image, 0), &rule);
        assert_int_equal(rule.kind, PP_RULE_NONE);
    }
}

static void entries_that_cannot_be_read_are_passed_over(void **state)
{
    (void)state;
    cfi_begin(&image, memory, NULL, 1, (cfi_bytes){NULL, 0});
    size_t content = cfi_open(&image);
    cfi_put_bytes(&image, CFI(0, 0, 0, 0, 77)); /* a CIE of a version to come */
    cfi_close(&image, content);
    content = cfi_open(&image);
    cfi_put_bytes(&image, CFI(0xff, 0xff, 0xff, 0x7f, 1, 2, 3, 4)); /* an FDE without CIE */
    cfi_close(&image, content);
    cfi_add(&image, CFI(DEF_CFA_OFFSET, 8));
    pp_image whole = cfi_without_header(&image);
    assert_all_are_found(&whole);
}

/* The last of many thousand entries is not looked for, if they were not listed: a handler's time is bounded. */
static void endless_frames_end(void **state)
{
    (void)state;
    enum { ENTRIES = (1 << 15) + 10, ENTRY = 8 };
    make_functions(1);
    const uint8_t filler[ENTRY] = {4, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f};
    size_t fde = image.size;
    for (int few = 0; few <= 1; few++) {
        size_t fillers = few ? 10 : ENTRIES;
        uint8_t *bytes = calloc(1, fillers * ENTRY + CFI_IMAGE_BYTES);
        for (size_t i = 0; i < fillers; i++)
            memcpy(bytes + i * ENTRY, filler, ENTRY);
        uint8_t *frames = bytes + fillers * ENTRY;
        memcpy(frames, memory + image.cie, fde - image.cie);
        /* The function moved along with the image, since the FDE counts from itself. */
        uintptr_t code = cfi_code(&image, 0) - (uintptr_t)(memory + image.cie) + (uintptr_t)frames;
        pp_image whole = {.lo = (uintptr_t)bytes,
                          .hi = (uintptr_t)frames + (fde - image.cie) + 4,
                          .header = (uintptr_t)bytes,
                          .permanent = true};
        pp_rule rule;
        compute_rule(&whole, code, &rule);
        assert_int_equal(rule.kind, few ? PP_RULE_FRAME : PP_RULE_NONE);
        pp_keyed *list = list_frames(&whole);
        compute_rule(&whole, code, &rule);
        assert_int_equal(rule.kind, PP_RULE_FRAME);
        free(list);
        free(bytes);
    }
}

/* ---- corrupt images, and images that go away ---- */

static uint8_t *before_a_guard; /* the first byte of the page that must not be touched */

/* The image again, its last byte the last that may be read. */
static pp_image at_the_guard(const cfi_image *from, size_t size)
{
    uint8_t *start = before_a_guard - size;
    memcpy(start, from->bytes, size);
    return (pp_image){.lo = (uintptr_t)start,
                      .hi = (uintptr_t)before_a_guard,
                      .header = (uintptr_t)start,
                      .permanent = true};
}

static void assert_well_formed(const pp_rule *rule)
{
    assert_in_range(rule->kind, PP_RULE_FRAME, PP_RULE_NONE);
    if (rule->kind == PP_RULE_FRAME) {
        assert_in_range(rule->cfa_reg, 0, 15);
        assert_in_range(rule->fp.kind, PP_WHERE_SAME, PP_WHERE_BEYOND);
        assert_in_range(rule->bx.kind, PP_WHERE_SAME, PP_WHERE_BEYOND);
        assert_in_range(rule->ra.kind, PP_WHERE_SAME, PP_WHERE_REGISTER);
    }
}

/* Asks for each function, at the start, in the middle and at the end. */
static void ask_everything(const pp_image *target, const cfi_image *like)
{
    static const uintptr_t offsets[] = {0, 1, 5, 17, 40, CFI_RANGE - 1, CFI_RANGE};
    cfi_image moved = {.bytes = (uint8_t *)target->lo};
    for (size_t function = 0; function < like->functions; function++) {
        for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
            pp_rule rule;
            compute_rule(target, cfi_code(&moved, function) + offsets[i], &rule);
            assert_well_formed(&rule);
        }
    }
}

/* One image with a bit of everything. */
static void make_rich_image(bool wide)
{
    const cfi_options options = {.augmentation = "zPLR",
                                 .augmentation_data = CFI(0x9b, 1, 2, 3, 4, 0x1b, 0x1b),
                                 .wide = wide};
    cfi_begin(&image, memory, &options, 4, CFI(OFFSET(RBP, 5)));
    cfi_add(&image, CFI(ADVANCE(1), DEF_CFA_OFFSET, 16, OFFSET(RBP, 2), REMEMBER_STATE,
                        ADVANCE_LOC1, 3, DEF_CFA_REGISTER, RBP, ADVANCE_LOC2, 4, 0, RESTORE_STATE,
                        ADVANCE_LOC4, 9, 0, 0, 0, RESTORE(RBP)));
    cfi_add(&image, CFI(DEF_CFA_EXPRESSION, 11, BREG(RSP), 8, BREG(RIP), 0, LIT(15), OP_AND,
                        LIT(11), OP_GE, LIT(3), OP_SHL, OP_PLUS));
    cfi_add(&image,
            CFI(EXPRESSION, RBP, 2, BREG(RBP), 0, DEF_CFA_EXPRESSION, 3, BREG(RBP), MINUS - 8,
                OP_DEREF, VAL_EXPRESSION, RBX, 2, BREG(RDX), 0, GNU_ARGS_SIZE, 16));
    cfi_add(&image, CFI(DEF_CFA_SF, RBP, MINUS - 2, VAL_OFFSET, RBX, 2, REGISTER, RIP, RDI,
                        OFFSET_EXTENDED_SF, RBP, 3, SAME_VALUE, RBX, UNDEFINED, RIP));
}

static void images_cut_off_anywhere_are_survived(void **state)
{
    (void)state;
    for (int wide = 0; wide <= 1; wide++) {
        make_rich_image(wide);
        for (size_t size = 0; size <= image.size; size++) {
            pp_image cut = at_the_guard(&image, size);
            ask_everything(&cut, &image);
            cut.header += image.cie;
            ask_everything(&cut, &image);
        }
    }
}

static void any_byte_may_be_wrong(void **state)
{
    (void)state;
    static const uint8_t values[] = {0x00, 0x01, 0x3f, 0x40, 0x7f, 0x80, 0xc0, 0xfe, 0xff};
    for (int wide = 0; wide <= 1; wide++) {
        make_rich_image(wide);
        for (size_t at = 0; at < image.size; at++) {
            for (size_t i = 0; i < sizeof values; i++) {
                uint8_t right = memory[at];
                memory[at] = values[i];
                pp_image corrupt = at_the_guard(&image, image.size);
                ask_everything(&corrupt, &image);
                corrupt.header += image.cie;
                ask_everything(&corrupt, &image);
                memory[at] = right;
            }
        }
    }
}

/* A program that never reaches the PC, in an FDE of a megabyte, takes bounded time and
 * is no rule. */
static void endless_programs_end(void **state)
{
    (void)state;
    enum { SIZE = 1 << 20 };
    uint8_t *bytes = calloc(1, SIZE);
    cfi_begin(&image, memory, NULL, 1, (cfi_bytes){NULL, 0});
    cfi_add(&image, CFI(NOP));
    memcpy(bytes, memory, image.size);
    cfi_image large = image;
    large.bytes = bytes;
    large.size = SIZE;
    uint32_t fde = 0;
    memcpy(&fde, memory + CFI_HEADER_BYTES + 4, sizeof fde);
    uint32_t length = (uint32_t)(SIZE - fde - 4);
    memcpy(bytes + fde, &length, sizeof length);
    pp_image whole = cfi_cut(&large, SIZE);
    pp_rule rule;
    compute_rule(&whole, cfi_code(&large, 0), &rule);
    assert_int_equal(rule.kind, PP_RULE_NONE);
    free(bytes);
}

static void assert_same_rule(const pp_rule *a, const pp_rule *b)
{
    const pp_where *theirs[] = {&a->fp, &a->bx, &a->ra};
    const pp_where *ours[] = {&b->fp, &b->bx, &b->ra};
    assert_int_equal(a->kind, b->kind);
    if (a->kind != PP_RULE_FRAME)
        return;
    assert_int_equal(a->cfa_reg, b->cfa_reg);
    assert_int_equal(a->cfa_offset, b->cfa_offset);
    assert_int_equal(a->cfa_read, b->cfa_read);
    assert_int_equal(a->cfa_addend, b->cfa_addend);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(theirs[i]->kind, ours[i]->kind);
        assert_int_equal(theirs[i]->reg, ours[i]->reg);
        assert_int_equal(theirs[i]->offset, ours[i]->offset);
    }
}

static void removable_images_are_read_alike(void **state)
{
    (void)state;
    make_rich_image(false);
    pp_image in_place = cfi_whole(&image);
    pp_image copied = in_place;
    copied.permanent = false;
    for (size_t function = 0; function < image.functions; function++) {
        for (uintptr_t offset = 0; offset < 24; offset++) {
            pp_rule a, b;
            compute_rule(&in_place, cfi_code(&image, function) + offset, &a);
            compute_rule(&copied, cfi_code(&image, function) + offset, &b);
            assert_true(a.permanent);
            assert_false(b.permanent);
            assert_same_rule(&a, &b);
        }
    }
}

static void images_that_are_gone_are_survived(void **state)
{
    (void)state;
    uint8_t *page =
        mmap(NULL, CFI_IMAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(page, MAP_FAILED);
    cfi_begin(&image, page, NULL, 1, (cfi_bytes){NULL, 0});
    cfi_add(&image, CFI(NOP));
    pp_image whole = cfi_whole(&image);
    whole.permanent = false;
    pp_rule rule;
    compute_rule(&whole, cfi_code(&image, 0), &rule);
    assert_cfa(rule, RSP, 8);
    munmap(page, CFI_IMAGE_BYTES);
    compute_rule(&whole, cfi_code(&image, 0), &rule);
    assert_int_equal(rule.kind, PP_RULE_NONE);
}

/* The second CIE, at the end of the image: its return register is none that a walk can use. */
static void put_useless_cie(void)
{
    image.cie = image.size;
    size_t content = cfi_open(&image);
    cfi_put(&image, 0, 4);
    cfi_put_bytes(&image, CFI(1, 'z', 'R', 0, 1, 8, 15, 1, CFI_PCREL_SDATA4));
    cfi_close(&image, content);
}

static void a_useless_cie_does_not_spoil_the_one_before(void **state)
{
    (void)state;
    cfi_begin(&image, memory, NULL, 2, (cfi_bytes){NULL, 0});
    cfi_add(&image, CFI(OFFSET(RBP, 2)));
    put_useless_cie();
    cfi_add(&image, CFI(NOP));
    pp_image whole = cfi_whole(&image);
    pp_rule rule, again;
    pp_cfi_open(&space);
    pp_cfi_rule(&whole, cfi_code(&image, 0), &space, &rule);
    assert_int_equal(rule.kind, PP_RULE_FRAME);
    pp_cfi_rule(&whole, cfi_code(&image, 1), &space, &again);
    assert_int_equal(again.kind, PP_RULE_NONE);
    pp_cfi_rule(&whole, cfi_code(&image, 0), &space, &again);
    assert_same_rule(&again, &rule);
}

static int map_guard(void **state)
{
    (void)state;
    uint8_t *pages =
        mmap(NULL, 2 * CFI_IMAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return -1;
    before_a_guard = pages + CFI_IMAGE_BYTES;
    return mprotect(before_a_guard, CFI_IMAGE_BYTES, PROT_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cie_holds_where_the_fde_says_nothing),
        cmocka_unit_test(row_begins_exactly_where_an_advance_puts_it),
        cmocka_unit_test(advances_use_all_their_bytes),
        cmocka_unit_test(advances_are_scaled_by_the_code_alignment),
        cmocka_unit_test(set_loc_names_an_address),
        cmocka_unit_test(several_rows_follow_each_other),
        cmocka_unit_test(remembered_rows_come_back_in_reverse),
        cmocka_unit_test(four_rows_are_remembered_but_not_without_end),
        cmocka_unit_test(nothing_comes_back_that_was_not_remembered),
        cmocka_unit_test(restore_means_what_the_cie_said),
        cmocka_unit_test(restore_in_the_cie_itself_is_harmless),
        cmocka_unit_test(cfa_is_defined_in_every_way),
        cmocka_unit_test(cfa_out_of_reach_is_no_rule),
        cmocka_unit_test(registers_are_placed_in_every_way),
        cmocka_unit_test(other_registers_do_not_matter),
        cmocka_unit_test(undefined_return_address_is_the_end),
        cmocka_unit_test(return_address_beyond_the_rules_is_not_the_end),
        cmocka_unit_test(jump_to_another_frame_takes_its_stack_pointer),
        cmocka_unit_test(context_in_memory_has_the_stack_pointer_too),
        cmocka_unit_test(stack_pointer_may_lie_above_the_cfa),
        cmocka_unit_test(stack_pointer_is_remembered_and_restored),
        cmocka_unit_test(stack_pointer_that_nobody_knows_makes_no_rule),
        cmocka_unit_test(operations_without_meaning_here_are_passed_over),
        cmocka_unit_test(unknown_operations_make_no_rule),
        cmocka_unit_test(plt_rule_depends_on_the_place_in_the_entry),
        cmocka_unit_test(realigned_stack_is_found_through_memory),
        cmocka_unit_test(old_stack_pointer_kept_in_memory_is_followed),
        cmocka_unit_test(expressions_place_registers),
        cmocka_unit_test(expression_that_does_not_reduce_costs_its_register_only),
        cmocka_unit_test(expression_longer_than_its_program_makes_no_rule),
        cmocka_unit_test(signal_frames_are_marked),
        cmocka_unit_test(long_lengths_are_read),
        cmocka_unit_test(addresses_are_read_in_every_encoding),
        cmocka_unit_test(addresses_may_be_indirect),
        cmocka_unit_test(unknown_encodings_make_no_rule),
        cmocka_unit_test(augmentations_are_skipped_by_their_size),
        cmocka_unit_test(augmentations_of_the_stone_age_make_no_rule),
        cmocka_unit_test(cie_versions_and_return_register_are_checked),
        cmocka_unit_test(data_alignment_scales_offsets),
        cmocka_unit_test(every_function_is_found_and_no_gap),
        cmocka_unit_test(an_image_without_a_rule_says_why),
        cmocka_unit_test(an_entry_without_a_rule_says_why),
        cmocka_unit_test(headers_of_another_kind_make_no_rule),
        cmocka_unit_test(frames_without_a_header_are_found_in_place_only),
        cmocka_unit_test(tables_that_are_missing_or_encoded_otherwise_are_done_without),
        cmocka_unit_test(entries_that_cannot_be_read_are_passed_over),
        cmocka_unit_test(frames_that_were_listed_are_found),
        cmocka_unit_test(endless_frames_end),
        cmocka_unit_test(images_cut_off_anywhere_are_survived),
        cmocka_unit_test(any_byte_may_be_wrong),
        cmocka_unit_test(endless_programs_end),
        cmocka_unit_test(removable_images_are_read_alike),
        cmocka_unit_test(images_that_are_gone_are_survived),
        cmocka_unit_test(a_useless_cie_does_not_spoil_the_one_before),
    };
    return cmocka_run_group_tests(tests, map_guard, NULL);
}
