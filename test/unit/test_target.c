/* SPDX-License-Identifier: MIT
 *
 * test_target.c: walks in another process, which is this program at other addresses: its memory is
 * read through the function that is passed, and in no other way.
 *
 * Architecture: x86_64
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modules/modules.h"
#include "unwind/rule_cache.h"
#include "unwind/walk_other.h"

/* Nothing of this process is at an address that is so much higher. */
static const uintptr_t SHIFT = UINT64_C(1) << 44;

enum { DEPTH = 16, STACK_WORDS = 16 };

/* Code that is never executed. */
#define CODE(name, cfi)                                                                            \
    __asm__(".text\n.p2align 4\n" #name ":\n.cfi_startproc\n" cfi                                  \
            ".rept 8\ncall *%rax\n.endr\n.cfi_endproc\n");                                         \
    extern const char(name)[]

CODE(code_leaf, "");
CODE(code_plain, ".cfi_def_cfa_offset 16\n");
CODE(code_end, ".cfi_undefined rip\n");

static uintptr_t stack[STACK_WORDS];
static unsigned reads;

static uintptr_t there(const void *here)
{
    return (uintptr_t)here + SHIFT;
}

static uintptr_t in(const char *code)
{
    return there(code) + 4;
}

static size_t copy_part(const pp_memory *memory, void *to, uintptr_t from, size_t size)
{
    (void)memory;
    reads++;
    return from < SHIFT ? 0 : pp_safe_copy_part(to, from - SHIFT, size);
}

static bool copy(const pp_memory *memory, void *to, uintptr_t from, size_t size)
{
    return copy_part(memory, to, from, size) == size;
}

static pp_module program;
static pp_walk_target target;

static void walk_there(uintptr_t pc, uintptr_t sp, uintptr_t *pcs, pp_walk *walk)
{
    pp_other_space space = {.target = &target};
    *walk = (pp_walk){.pcs = pcs, .capacity = DEPTH};
    reads = 0;
    pp_rule_cache_clear();
    pp_walk_other(pc, sp, &space, walk);
}

static int setup(void **state)
{
    (void)state;
    pp_module here;
    pp_modules_init();
    pp_modules_refresh();
    if (!pp_modules_find((uintptr_t)code_leaf, &here)) {
        return -1;
    }
    program = (pp_module){.code_lo = here.code_lo + SHIFT,
                          .code_hi = here.code_hi + SHIFT,
                          .cfi_lo = here.cfi_lo + SHIFT,
                          .cfi_hi = here.cfi_hi + SHIFT,
                          .eh_frame_hdr = here.eh_frame_hdr + SHIFT,
                          .cheap = true};
    return 0;
}

static int open_target(void **state)
{
    (void)state;
    target = (pp_walk_target){.memory = {copy, copy_part}, .module = &program, .module_count = 1};
    stack[0] = in(code_plain);
    stack[2] = in(code_end);
    return 0;
}

static void a_stack_is_read_through_the_target(void **state)
{
    (void)state;
    uintptr_t pcs[DEPTH];
    pp_walk walk;
    walk_there(in(code_leaf), there(stack), pcs, &walk);
    assert_int_equal(walk.why, PP_ENDS);
    assert_int_equal(walk.depth, 3);
    assert_int_equal(pcs[0], in(code_leaf) + 1);
    assert_int_equal(pcs[1], in(code_plain));
    assert_int_equal(pcs[2], in(code_end));
    assert_true(reads > 0);
}

static void what_the_target_does_not_have_is_not_read_here(void **state)
{
    (void)state;
    uintptr_t pcs[DEPTH];
    pp_walk walk;
    walk_there(in(code_leaf), (uintptr_t)stack, pcs, &walk); /* the stack is in this process */
    assert_int_equal(walk.why, PP_RETURN_UNREADABLE);
    assert_int_equal(walk.depth, 1);
    walk_there((uintptr_t)code_leaf, there(&stack[8]), pcs, &walk); /* so is the code */
    assert_int_equal(walk.why, PP_NO_CODE);
    target.module_count = 0;
    walk_there(in(code_leaf), there(stack), pcs, &walk);
    assert_int_equal(walk.why, PP_NO_MODULE);
}

static void entry_code_of_the_target_ends_a_stack(void **state)
{
    (void)state;
    uintptr_t pcs[DEPTH];
    pp_walk walk;
    target.module_count = 0;
    target.entry = in(code_leaf)-4;
    walk_there(in(code_leaf), there(stack), pcs, &walk);
    assert_int_equal(walk.why, PP_ENDS);
    target.entry = in(code_end);
    walk_there(in(code_leaf), there(stack), pcs, &walk);
    assert_int_equal(walk.why, PP_NO_MODULE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_stack_is_read_through_the_target, open_target),
        cmocka_unit_test_setup(what_the_target_does_not_have_is_not_read_here, open_target),
        cmocka_unit_test_setup(entry_code_of_the_target_ends_a_stack, open_target),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
