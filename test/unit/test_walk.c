/* SPDX-License-Identifier: MIT
 *
 * test_walk.c: stacks that are known, walked.
 *
 *   arrays        as stacks, with return addresses into code that is never executed and whose
 *                 call-frame information is written here by hand
 *   real stacks   compared with the return addresses that the frames themselves report
 *
 * What lies between two calls (prologues, PLT stubs, lazy binding, the loader, longjmp) is stepped
 * through by test/compare, instruction by instruction.
 *
 * Architecture: x86_64
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arch/registers.h"
#include "base/random.h"
#include "pprof.h"
#include "modules/loader_state.h"
#include "modules/modules.h"
#include "unwind/rule_cache.h"
#include "unwind/stack_memory.h"
#include "unwind/walk.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { DEPTH = 256 };

/* A function with one copy, whose address is where it runs. */
#ifdef __clang__
#define KEPT_WHOLE __attribute__((noinline))
#else
#define KEPT_WHOLE __attribute__((noinline, noclone))
#endif

/* ---- code that is never executed ---- */

/* Nothing but calls, so that every second address is one that a call returns to. */
#define CODE(name, cfi)                                                                            \
    __asm__(".text\n.p2align 4\n" #name ":\n.cfi_startproc\n" cfi                                  \
            ".rept 8\ncall *%rax\n.endr\n.cfi_endproc\n");                                         \
    extern const char(name)[]

CODE(code_leaf, "");
CODE(code_frame, ".cfi_def_cfa_offset 32\n.cfi_offset rbp, -16\n.cfi_offset rbx, -24\n");
CODE(code_plain, ".cfi_def_cfa_offset 16\n");
CODE(code_on_rbp, ".cfi_def_cfa rbp, 16\n.cfi_offset rbp, -16\n");
CODE(code_on_rbx, ".cfi_def_cfa rbx, 24\n.cfi_offset rbx, -24\n");
CODE(code_on_r10, ".cfi_def_cfa r10, 8\n");
CODE(code_on_r12, ".cfi_def_cfa r12, 8\n");
CODE(code_deref, ".cfi_escape 0x0f, 5, 0x77, 16, 0x06, 0x23, 8\n"); /* *(rsp + 16) + 8 */
CODE(code_huge, ".cfi_def_cfa_offset 65536\n");
CODE(code_no_fp, ".cfi_def_cfa_offset 16\n.cfi_undefined rbp\n");
CODE(code_end, ".cfi_undefined rip\n");
CODE(code_far_save, ".cfi_def_cfa_offset 16\n.cfi_offset rbp, -256\n");
CODE(code_flat, ".cfi_def_cfa_offset 0\n");
CODE(code_return_in_rdi, ".cfi_register rip, rdi\n");
CODE(code_signal, ".cfi_signal_frame\n");
CODE(code_return_in_r12, ".cfi_register rip, r12\n");
CODE(code_below, ".cfi_def_cfa_offset -16\n");
CODE(code_absolute, ".cfi_escape 0x0f, 3, 0x77, 0, 0x19\n"); /* a CFA of |rsp + 0| */
CODE(code_return_absolute, ".cfi_escape 0x16, 16, 3, 0x77, 0, 0x19\n");
CODE(code_stack_pointer_lost, ".cfi_undefined rsp\n");
CODE(code_nested, ".rept 5\n.cfi_remember_state\n.endr\n"); /* more than the walk has room for */

/* No call-frame information. */
__asm__(".text\n.p2align 4\ncode_bare:\n.rept 8\ncall *%rax\n.endr\n.byte 6\n");
extern const char code_bare[];

/* Not a call anywhere. */
__asm__(".text\n.p2align 4\ncode_nops:\n.cfi_startproc\n.skip 32, 0x90\n.cfi_endproc\n");
extern const char code_nops[];

static uintptr_t in(const char *code)
{
    return (uintptr_t)code + 4;
}

typedef struct outcome {
    uintptr_t pcs[DEPTH];
    pp_walk_space space;
    pp_walk walk;
} outcome;

static ucontext_t blank;

static ucontext_t context_at(uintptr_t pc, const uintptr_t *sp)
{
    ucontext_t context = blank;
    context.uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
    context.uc_mcontext.gregs[REG_RSP] = (greg_t)sp;
    return context;
}

static void walk_from(outcome *o, const ucontext_t *context, uint32_t capacity, uint32_t skip)
{
    memset(o->pcs, 0xee, sizeof o->pcs);
    o->walk = (pp_walk){.pcs = o->pcs, .space = &o->space, .capacity = capacity, .skip = skip};
    pp_walk_from_context(context, &o->walk);
    for (uint32_t i = o->walk.depth; i < DEPTH; i++)
        assert_int_equal(o->pcs[i], UINT64_C(0xeeeeeeeeeeeeeeee)); /* nothing behind the end */
}

#define assert_stack(o, why, ...)                                                                  \
    do {                                                                                           \
        const uintptr_t expected_[] = {__VA_ARGS__};                                               \
        assert_int_equal((o).walk.stop, why);                                                      \
        assert_int_equal((o).walk.depth, sizeof expected_ / sizeof *expected_);                    \
        assert_memory_equal((o).pcs, expected_, sizeof expected_);                                 \
    } while (0)

/* ---- arrays as stacks ---- */

static void frames_are_left_by_their_rules(void **state)
{
    (void)state;
    outcome o;
    uintptr_t stack[32] = {0};
    stack[0] = in(code_frame);
    stack[1 + 1] = 0x1111; /* rbx */
    stack[1 + 2] = (uintptr_t)&stack[10];
    stack[1 + 3] = in(code_on_rbp);
    stack[10] = 0x2222; /* rbp */
    stack[11] = in(code_plain);
    stack[13] = in(code_end);
    ucontext_t context = context_at(in(code_leaf), stack);
    walk_from(&o, &context, DEPTH, 0);
    assert_stack(o, PP_STOP_END, in(code_leaf) + 1, in(code_frame), in(code_on_rbp), in(code_plain),
                 in(code_end));
    assert_false(o.walk.guessed);
}

static void rbx_carries_a_frame_as_in_lazy_binding(void **state)
{
    (void)state;
    outcome o;
    uintptr_t stack[32] = {0};
    stack[0] = in(code_on_rbx);
    stack[8] = (uintptr_t)&stack[12]; /* rbx of the caller, at CFA - 24 */
    stack[10] = in(code_on_rbx);
    stack[14] = in(code_end);
    ucontext_t context = context_at(in(code_leaf), stack);
    context.uc_mcontext.gregs[REG_RBX] = (greg_t)&stack[8];
    walk_from(&o, &context, DEPTH, 0);
    assert_stack(o, PP_STOP_END, in(code_leaf) + 1, in(code_on_rbx), in(code_on_rbx), in(code_end));
}

static void a_frame_may_be_found_through_memory(void **state)
{
    (void)state;
    outcome o;
    uintptr_t stack[32] = {0};
    stack[2] = (uintptr_t)&stack[20]; /* at rsp + 16: the CFA less 8 */
    stack[20] = in(code_deref);
    stack[23] = (uintptr_t)&stack[30];
    stack[30] = in(code_end);
    ucontext_t context = context_at(in(code_deref), stack);
    walk_from(&o, &context, DEPTH, 0);
    assert_stack(o, PP_STOP_END, in(code_deref) + 1, in(code_deref), in(code_end));
}

static void all_registers_are_known_at_the_leaf(void **state)
{
    (void)state;
    outcome o;
    uintptr_t stack[32] = {0};
    stack[10] = in(code_end);
    ucontext_t context = context_at(in(code_on_r10), stack);
    context.uc_mcontext.gregs[REG_R10] = (greg_t)&stack[10];
    walk_from(&o, &context, DEPTH, 0);
    assert_stack(o, PP_STOP_END, in(code_on_r10) + 1, in(code_end));

    context = context_at(in(code_return_in_rdi), stack);
    context.uc_mcontext.gregs[REG_RDI] = (greg_t)in(code_end);
    walk_from(&o, &context, DEPTH, 0);
    assert_stack(o, PP_STOP_END, in(code_return_in_rdi) + 1, in(code_end));
}

static void a_register_that_somebody_saved_unseen_ends_the_walk(void **state)
{
    (void)state;
    outcome o;
    uintptr_t stack[32] = {0};
    stack[0] = in(code_on_r12);
    stack[10] = in(code_end);
    ucontext_t context = context_at(in(code_leaf), stack);
    context.uc_mcontext.gregs[REG_R12] = (greg_t)&stack[10];
    walk_from(&o, &context, DEPTH, 0);
    assert_stack(o, PP_STOP_NO_RULE, in(code_leaf) + 1, in(code_on_r12));
    /* An undefined frame pointer, likewise. */
    memset(stack, 0, sizeof stack);
    stack[1] = in(code_on_rbp);
    stack[11] = in(code_end);
    context = context_at(in(code_no_fp), stack);
    context.uc_mcontext.gregs[REG_RBP] = (greg_t)&stack[10];
    walk_from(&o, &context, DEPTH, 0);
    assert_stack(o, PP_STOP_NO_RULE, in(code_no_fp) + 1, in(code_on_rbp));
}

static void frames_too_large_for_a_word_are_left_too(void **state)
{
    (void)state;
    outcome o;
    uintptr_t *stack = calloc(65536 / 8 * 3, sizeof *stack);
    stack[0] = in(code_huge);
    stack[65536 / 8] = in(code_huge);
    stack[65536 / 8 * 2] = in(code_end);
    ucontext_t context = context_at(in(code_leaf), stack);
    for (int again = 0; again < 2; again++) { /* computed, then from the cache */
        walk_from(&o, &context, DEPTH, 0);
        assert_stack(o, PP_STOP_END, in(code_leaf) + 1, in(code_huge), in(code_huge), in(code_end));
    }
    free(stack);
}

static void a_signal_frame_restores_the_frame_pointer(void **state)
{
    (void)state;
    outcome o;
    struct {
        uintptr_t restorer;
        ucontext_t interrupted;
        uintptr_t above[2];
    } stack = {.restorer = in(code_signal), .above = {0, in(code_end)}};
    stack.interrupted = context_at(in(code_on_rbp), stack.above);
    stack.interrupted.uc_mcontext.gregs[REG_RBP] = (greg_t)stack.above;
    ucontext_t context = context_at(in(code_leaf), &stack.restorer);
    context.uc_mcontext.gregs[REG_RBP] = (greg_t)&stack.restorer; /* of the handler */
    walk_from(&o, &context, DEPTH, 0);
    assert_stack(o, PP_STOP_END, in(code_leaf) + 1, in(code_signal), in(code_on_rbp) + 1,
                 in(code_end));
}

static void a_return_address_of_zero_is_the_end(void **state)
{
    (void)state;
    outcome o;
    uintptr_t stack[8] = {in(code_plain)};
    ucontext_t context = context_at(in(code_leaf), stack);
    walk_from(&o, &context, DEPTH, 0);
    assert_stack(o, PP_STOP_END, in(code_leaf) + 1, in(code_plain));
}

static void a_frame_that_does_not_rise_ends_the_walk(void **state)
{
    (void)state;
    outcome o;
    uintptr_t stack[8] = {0, in(code_flat), in(code_flat)};
    ucontext_t context = context_at(in(code_leaf), &stack[1]);
    walk_from(&o, &context, DEPTH, 0);
    assert_stack(o, PP_STOP_BAD_READ, in(code_leaf) + 1, in(code_flat));
}

/* The words are read in place, and the rules are in the cache: such frames are left in a row. */
static void a_frame_that_does_not_rise_ends_a_row(void **state)
{
    (void)state;
    outcome o;
    uintptr_t stack[64] = {in(code_on_rbp)};
    stack[61] = in(code_flat);
    ucontext_t context = context_at(in(code_leaf), stack);
    context.uc_mcontext.gregs[REG_RBP] = (greg_t)&stack[60];
    pp_stack_declare((uintptr_t)stack, (uintptr_t)(stack + 64));
    for (int again = 0; again < 2; again++) {
        walk_from(&o, &context, DEPTH, 0);
        assert_stack(o, PP_STOP_BAD_READ, in(code_leaf) + 1, in(code_on_rbp), in(code_flat));
    }
    pp_stack_declare(0, 0);
}

static void a_stack_that_is_not_there_ends_the_walk(void **state)
{
    (void)state;
    outcome o;
    static const uintptr_t nowhere[] = {0,
                                        8,
                                        1,
                                        0x1000,
                                        0x7ffffffff000,
                                        0xffffffffff600000,
                                        UINTPTR_MAX,
                                        UINTPTR_MAX - 7,
                                        0x8000000000000000};
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
        ucontext_t context = context_at(in(code_frame), (const uintptr_t *)nowhere[i]);
        walk_from(&o, &context, DEPTH, 0);
        assert_stack(o, PP_STOP_BAD_READ, in(code_frame) + 1);
        context = context_at(in(code_on_rbp), (const uintptr_t *)nowhere[i]);
        context.uc_mcontext.gregs[REG_RBP] = (greg_t)nowhere[i];
        walk_from(&o, &context, DEPTH, 0);
        /* no frame hangs on a register that is 0: it counts as not known */
        assert_stack(o, nowhere[i] == 0 ? PP_STOP_NO_RULE : PP_STOP_BAD_READ, in(code_on_rbp) + 1);
        context = context_at(in(code_huge), (const uintptr_t *)nowhere[i]);
        walk_from(&o, &context, DEPTH, 0);
        assert_stack(o, PP_STOP_BAD_READ, in(code_huge) + 1);
    }
}

static void a_stack_that_ends_in_the_middle_gives_what_there_is(void **state)
{
    (void)state;
    outcome o;
    long page = sysconf(_SC_PAGESIZE);
    char *pages =
        mmap(NULL, (size_t)page * 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    mprotect(pages + page, (size_t)page, PROT_NONE);
    uintptr_t *top = (uintptr_t *)(pages + page);
    top[-3] = in(code_plain);
    top[-1] = in(code_plain);
    ucontext_t context = context_at(in(code_leaf), top - 3);
    walk_from(&o, &context, DEPTH, 0);
    assert_stack(o, PP_STOP_BAD_READ, in(code_leaf) + 1, in(code_plain), in(code_plain));
    munmap(pages, (size_t)page * 2);
}

/* Below the stack pointer there may be nothing. */
static void a_save_below_the_stack_is_looked_for_carefully(void **state)
{
    (void)state;
    outcome o;
    char *pages = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    mprotect(pages, 4096, PROT_NONE);
    uintptr_t *stack = (uintptr_t *)(pages + 4096);
    for (size_t depth = 0; depth < 40; depth++) {
        memset(stack, 0, 4096);
        stack[depth] = in(code_far_save);
        stack[depth + 2] = in(code_end);
        ucontext_t context = context_at(in(code_leaf), stack + depth);
        for (int again = 0; again < 2; again++) {
            walk_from(&o, &context, DEPTH, 0);
            if (depth + 3 < 256 / 8) {
                assert_stack(o, PP_STOP_BAD_READ, in(code_leaf) + 1, in(code_far_save));
                assert_int_equal(o.walk.why, PP_SAVED_UNREADABLE);
            } else
                assert_stack(o, PP_STOP_END, in(code_leaf) + 1, in(code_far_save), in(code_end));
        }
    }
    munmap(pages, 2 * 4096);
}

static void odd_stack_pointers_are_survived(void **state)
{
    (void)state;
    outcome o;
    uintptr_t stack[64];
    for (size_t i = 0; i < 64; i++)
        stack[i] = in(code_plain);
    for (uintptr_t odd = 1; odd < 8; odd++) {
        ucontext_t context = context_at(in(code_leaf), (uintptr_t *)((uintptr_t)stack + odd));
        walk_from(&o, &context, 40, 0);
        assert_in_range(o.walk.depth, 1, 40);
    }
}

/* Words that lead astray: into the array, to code, nowhere. */
static uintptr_t random_word(uint64_t *seed, const uintptr_t *stack, size_t words)
{
    static const char *const codes[] = {code_leaf,   code_frame,  code_plain, code_on_rbp,
                                        code_on_rbx, code_on_r10, code_deref, code_huge,
                                        code_no_fp,  code_flat,   code_end,   code_return_in_rdi};
    uint64_t random = pp_random_next(seed);
    switch (pp_random_below(seed, 8)) {
    case 0:
        return random;
    case 1:
        return random % 100000;
    case 2:
        return (uintptr_t)stack + random % (words * sizeof *stack);
    case 3:
        return (uintptr_t)(stack + random % words);
    default:
        return in(codes[random % (sizeof codes / sizeof *codes)]);
    }
}

static void corrupt_stacks_are_survived(void **state)
{
    (void)state;
    enum { WORDS = 512, ROUNDS = 20000 };
    /* Ends at a page that must not be touched. */
    char *pages = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    mprotect(pages, 4096, PROT_NONE);
    mprotect(pages + 2 * 4096, 4096, PROT_NONE);
    uintptr_t *stack = (uintptr_t *)(pages + 4096);
    uint64_t seed = 5;
    for (int round = 0; round < ROUNDS; round++) {
        outcome o;
        if (round % 50 == 0) {
            for (size_t i = 0; i < WORDS; i++)
                stack[i] = random_word(&seed, stack, WORDS);
        }
        ucontext_t context = blank;
        for (int i = 0; i < PP_REG_COUNT; i++) {
            context.uc_mcontext.gregs[pp_greg_of_register[i]] =
                (greg_t)random_word(&seed, stack, WORDS);
        }
        context.uc_mcontext.gregs[REG_RSP] = (greg_t)(stack + pp_random_below(&seed, WORDS));
        walk_from(&o, &context, 1 + (uint32_t)pp_random_below(&seed, DEPTH),
                  (uint32_t)pp_random_below(&seed, 4));
        assert_in_range(o.walk.stop, PP_STOP_END, PP_STOP_BAD_READ);
    }
    munmap(pages, 3 * 4096);
}

/* ---- calls that went wrong ---- */

static void a_call_through_a_null_pointer_shows_its_caller(void **state)
{
    (void)state;
    outcome o;
    uintptr_t stack[8] = {in(code_plain), 0, in(code_end)};
    static const uintptr_t targets[] = {0, 8, 0xfff};
    for (size_t i = 0; i < 3; i++) {
        ucontext_t context = context_at(targets[i], stack);
        context.uc_mcontext.gregs[REG_RBP] = (greg_t)&stack[4];
        walk_from(&o, &context, DEPTH, 0);
        assert_stack(o, PP_STOP_END, targets[i] + 1, in(code_plain), in(code_end));
    }
}

static void a_call_to_nowhere_shows_its_caller(void **state)
{
    (void)state;
    outcome o;
    uintptr_t stack[8] = {in(code_plain), 0, in(code_end), 0, 0, in(code_end)};
    static const uintptr_t targets[] = {0x123456789abc, 0x8000000000000000, UINTPTR_MAX - 1};
    for (size_t i = 0; i < 3; i++) {
        ucontext_t context = context_at(targets[i], stack);
        context.uc_mcontext.gregs[REG_RBP] = (greg_t)&stack[4]; /* of an outer frame */
        walk_from(&o, &context, DEPTH, 0);
        assert_stack(o, PP_STOP_END, targets[i] + 1, in(code_plain), in(code_end));
    }
}

static void a_word_that_no_call_left_is_no_return_address(void **state)
{
    (void)state;
    outcome o;
    static const uintptr_t targets[] = {0, 0x123456789abc};
    for (size_t i = 0; i < 2; i++) {
        uintptr_t stack[8] = {(uintptr_t)code_nops + 16, (uintptr_t)code_nops + 24, in(code_end)};
        ucontext_t context = context_at(targets[i], stack);
        walk_from(&o, &context, DEPTH, 0);
        assert_stack(o, PP_STOP_NO_RULE, targets[i] + 1);
    }
}

static void a_jump_to_nowhere_from_nowhere_is_one_frame(void **state)
{
    (void)state;
    outcome o;
    uintptr_t stack[8] = {0x123456789abc, 0x4141414141414141};
    ucontext_t context = context_at(0x123456789000, stack);
    walk_from(&o, &context, DEPTH, 0);
    assert_stack(o, PP_STOP_NO_RULE, 0x123456789001);
    context = context_at(0, NULL);
    walk_from(&o, &context, DEPTH, 0);
    assert_stack(o, PP_STOP_NO_RULE, 1);
}

static void code_without_cfi_is_passed_by_its_frame_pointer(void **state)
{
    (void)state;
    outcome o;
    uintptr_t stack[32] = {0};
    char *jit = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(jit, MAP_FAILED);
    stack[4] = (uintptr_t)&stack[8];
    stack[5] = (uintptr_t)jit + 200;
    stack[8] = (uintptr_t)&stack[14];
    stack[9] = in(code_plain);
    stack[11] = in(code_end);
    ucontext_t context = context_at((uintptr_t)jit + 100, stack);
    context.uc_mcontext.gregs[REG_RBP] = (greg_t)&stack[4];
    walk_from(&o, &context, DEPTH, 0);
    assert_stack(o, PP_STOP_END, (uintptr_t)jit + 101, (uintptr_t)jit + 200, in(code_plain),
                 in(code_end));
    assert_true(o.walk.guessed);
    context.uc_mcontext.gregs[REG_RBP] = 12345; /* nor is there a frame pointer */
    walk_from(&o, &context, DEPTH, 0);
    assert_stack(o, PP_STOP_NO_RULE, (uintptr_t)jit + 101);
    munmap(jit, 4096);
}

/* ---- why a stack ends ---- */

/* The reason is the same when the rule, or that there is none, comes from the cache. */
static void assert_why(const ucontext_t *context, pp_reason why)
{
    outcome o;
    for (int again = 0; again < 2; again++) {
        walk_from(&o, context, DEPTH, 0);
        assert_int_equal(o.walk.why, why);
        assert_int_equal(o.walk.stop, pp_stop_of(why));
    }
}

/* The end of a stack that a leaf's caller is the last frame of. `words` are above its address. */
static void assert_why_of_caller(const char *caller, uintptr_t words, pp_reason why)
{
    uintptr_t stack[16] = {0};
    for (int i = 0; i < 15; i++) {
        stack[i] = words;
    }
    stack[4] = in(caller);
    ucontext_t context = context_at(in(code_leaf), &stack[4]);
    assert_why(&context, why);
}

static void a_frame_without_a_rule_says_why(void **state)
{
    (void)state;
    assert_why_of_caller(code_bare, 1, PP_NOT_COVERED);
    assert_why_of_caller(code_nested, 1, PP_BAD_PROGRAM);
    assert_why_of_caller(code_absolute, 1, PP_CFA_EXPRESSION);
    assert_why_of_caller(code_return_absolute, 1, PP_RETURN_EXPRESSION);
    assert_why_of_caller(code_stack_pointer_lost, 1, PP_SP_EXPRESSION);
    assert_why_of_caller((const char *)0x123456789000, 1, PP_NO_CODE);
    assert_why_of_caller((const char *)0x4141414141414141, 1, PP_NO_CODE);
    char *jit = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(jit, MAP_FAILED);
    assert_why_of_caller(jit, 1, PP_NO_MODULE);
    munmap(jit, 4096);
}

static void a_rule_that_fails_says_why(void **state)
{
    (void)state;
    assert_why_of_caller(code_on_r12, 1, PP_CFA_REGISTER);
    assert_why_of_caller(code_return_in_r12, 1, PP_RETURN_REGISTER);
    assert_why_of_caller(code_flat, in(code_flat), PP_NOT_ABOVE);
    static const struct {
        const char *code;
        pp_reason why;
    } leaves[] = {{code_deref, PP_CFA_UNREADABLE},
                  {code_frame, PP_RETURN_UNREADABLE},
                  {code_signal, PP_SIGNAL_FRAME_UNREADABLE}};
    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++) {
        ucontext_t context = context_at(in(leaves[i].code), (const uintptr_t *)0x1000);
        assert_why(&context, leaves[i].why);
    }
}

/* A return address of 0 is the end of a stack only if it is where a caller's can be. */
static void a_zero_below_the_frame_is_not_the_end(void **state)
{
    (void)state;
    assert_why_of_caller(code_below, 0, PP_NOT_ABOVE);
    assert_why_of_caller(code_plain, 0, PP_ENDS);
}

/* ---- capacity and skip ---- */

static void capacity_and_skip_cut_the_same_stack(void **state)
{
    (void)state;
    enum { FRAMES = 60 };
    outcome whole;
    uintptr_t stack[2 * FRAMES + 8] = {in(code_plain)};
    for (size_t i = 0; i < FRAMES - 3; i++)
        stack[2 * (i + 1)] = in(code_plain) + i % 7;
    stack[2 * (FRAMES - 2)] = in(code_end);
    ucontext_t context = context_at(in(code_leaf), stack);
    walk_from(&whole, &context, DEPTH, 0);
    assert_int_equal(whole.walk.depth, FRAMES);
    assert_int_equal(whole.walk.stop, PP_STOP_END);
    for (uint32_t skip = 0; skip <= FRAMES + 2; skip++) {
        for (uint32_t capacity = 1; capacity <= FRAMES + 2; capacity++) {
            outcome o;
            uint32_t left = skip < FRAMES ? FRAMES - skip : 0;
            walk_from(&o, &context, capacity, skip);
            assert_int_equal(o.walk.depth, left < capacity ? left : capacity);
            assert_int_equal(o.walk.stop, left > capacity ? PP_STOP_TRUNCATED : PP_STOP_END);
            assert_memory_equal(o.pcs, whole.pcs + (left != 0 ? skip : 0),
                                o.walk.depth * sizeof *o.pcs);
        }
    }
    outcome none;
    walk_from(&none, &context, 0, 0);
    assert_int_equal(none.walk.depth, 0);
    walk_from(&none, &context, DEPTH, UINT32_MAX);
    assert_int_equal(none.walk.depth, 0);
}

/* ---- real stacks ---- */

/* What each frame says of itself, the innermost last. */
static uintptr_t own_returns[1024];
static size_t own_count;

/* Calls itself until `levels` frames lie on the stack, then `bottom`. */
KEPT_WHOLE static int descend(int levels, int (*bottom)(void))
{
    own_returns[own_count++] = (uintptr_t)__builtin_return_address(0);
    volatile int result = levels > 1 ? descend(levels - 1, bottom) : bottom();
    own_count--;
    return result + 1; /* not a tail call */
}

/* The frames above `bottom`: descend() `levels` times, the first of the test. */
static void assert_descent(const uintptr_t *pcs, size_t depth, size_t at)
{
    for (size_t i = own_count; i-- > 0; at++) {
        assert_true(at < depth);
        assert_int_equal(pcs[at], own_returns[i]);
    }
}

static bool lies_in(uintptr_t pc, const void *function, size_t size)
{
    return pc > (uintptr_t)function && pc <= (uintptr_t)function + size;
}

static uintptr_t callers[1100];

__attribute__((noinline)) static int ask_callers(void)
{
    errno = 1234;
    size_t depth = pprof_callers(0, callers, 1100);
    assert_int_equal(errno, 1234);
    assert_true(depth > own_count + 1);
    assert_true(lies_in(callers[0], (void *)(uintptr_t)ask_callers, 4096));
    assert_true(lies_in(callers[1], (void *)(uintptr_t)descend, 4096));
    assert_descent(callers, depth, 2);
    return 0;
}

static void callers_are_the_return_addresses(void **state)
{
    (void)state;
    static const int levels[] = {1, 2, 3, 10, 100, 1000};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        descend(levels[i], ask_callers);
}

__attribute__((noinline)) static int ask_with_skip_and_capacity(void)
{
    uintptr_t whole[DEPTH];
    uintptr_t part[DEPTH];
    size_t depth = pprof_callers(0, whole, DEPTH);
    assert_in_range(depth, 12, DEPTH - 1);
    for (int skip = 1; skip < (int)depth + 3; skip++) {
        for (size_t capacity = 0; capacity < depth + 3; capacity++) {
            size_t left = (size_t)skip < depth ? depth - (size_t)skip : 0;
            size_t got = pprof_callers(skip, part, capacity);
            assert_int_equal(got, left < capacity ? left : capacity);
            assert_memory_equal(part, whole + (left != 0 ? skip : 0), got * sizeof *part);
        }
    }
    assert_int_equal(pprof_callers(-1, part, DEPTH), depth);
    assert_memory_equal(part + 1, whole + 1, (depth - 1) * sizeof *part);
    assert_int_equal(pprof_callers(INT_MIN, part, DEPTH), depth);
    assert_int_equal(pprof_callers(INT_MAX, part, DEPTH), 0);
    assert_int_equal(pprof_callers(0, NULL, 0), 0);
    return 0;
}

static void callers_can_be_skipped(void **state)
{
    (void)state;
    descend(10, ask_with_skip_and_capacity);
}

static int compare_and_ask(const void *a, const void *b)
{
    size_t depth = pprof_callers(0, callers, 1100);
    size_t at = 0;
    while (at < depth && callers[at] != own_returns[own_count - 1])
        at++;
    assert_in_range(at, 2, 12); /* us, qsort's own frames, the one that called it */
    assert_descent(callers, depth, at);
    return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static int sort_something(void)
{
    int numbers[40];
    for (int i = 0; i < 40; i++)
        numbers[i] = i * 7 % 40;
    qsort(numbers, 40, sizeof *numbers, compare_and_ask);
    for (int i = 0; i < 40; i++)
        assert_int_equal(numbers[i], i);
    return 0;
}

static void a_callback_shows_who_called_the_library(void **state)
{
    (void)state;
    descend(5, sort_something);
}

/* ---- signals ---- */

/* ThreadSanitizer calls handlers from a frame of its own, when it likes. */
static void skip_without_real_signals(void)
{
#ifdef __SANITIZE_THREAD__
    skip();
#endif
}

static outcome from_context;
static uintptr_t through_frame[DEPTH];
static size_t through_frame_depth;
static volatile int signals_seen;

static void on_signal(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
    from_context.walk =
        (pp_walk){.pcs = from_context.pcs, .space = &from_context.space, .capacity = DEPTH};
    pp_walk_from_context(context, &from_context.walk);
    through_frame_depth = pprof_callers(0, through_frame, DEPTH);
    const ucontext_t *interrupted = context;
    assert_int_equal(from_context.pcs[0], (uintptr_t)interrupted->uc_mcontext.gregs[REG_RIP] + 1);
    signals_seen++;
}

__attribute__((noinline)) static int raise_and_compare(void)
{
    int seen = signals_seen;
    raise(SIGUSR1);
    assert_int_equal(signals_seen, seen + 1);
    assert_int_equal(from_context.walk.stop, PP_STOP_END);
    assert_false(from_context.walk.guessed);

    size_t at = 0;
    while (at < from_context.walk.depth && from_context.pcs[at] != own_returns[own_count - 1])
        at++;
    assert_in_range(at, 2, 10); /* the system call, raise, us, descend */
    assert_descent(from_context.pcs, from_context.walk.depth, at);

    /* The handler, the restorer, and then the same. */
    assert_int_equal(through_frame_depth, from_context.walk.depth + 2);
    assert_true(lies_in(through_frame[0], (void *)(uintptr_t)on_signal, 4096));
    assert_memory_equal(through_frame + 2, from_context.pcs,
                        from_context.walk.depth * sizeof *through_frame);
    return 0;
}

static void signal_frames_are_passed(void **state)
{
    (void)state;
    skip_without_real_signals();
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    struct sigaction old;
    sigaction(SIGUSR1, &action, &old);
    descend(7, raise_and_compare);
    sigaction(SIGUSR1, &old, NULL);
}

static void signal_frames_on_an_alternate_stack_are_passed(void **state)
{
    (void)state;
    skip_without_real_signals();
    enum { SIZE = 256 * 1024 };
    stack_t alternate = {.ss_sp = malloc(SIZE), .ss_size = SIZE};
    stack_t old_stack;
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct sigaction old;
    assert_int_equal(sigaltstack(&alternate, &old_stack), 0);
    sigaction(SIGUSR1, &action, &old);
    descend(7, raise_and_compare);
    sigaction(SIGUSR1, &old, NULL);
    sigaltstack(&old_stack, NULL);
    free(alternate.ss_sp);
}

static void raise_from_handler(int signal)
{
    (void)signal;
    descend(3, raise_and_compare);
}

static void signals_in_signals_are_passed(void **state)
{
    (void)state;
    skip_without_real_signals();
    struct sigaction inner = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    struct sigaction outer = {.sa_handler = raise_from_handler};
    struct sigaction old_inner, old_outer;
    sigaction(SIGUSR1, &inner, &old_inner);
    sigaction(SIGUSR2, &outer, &old_outer);
    raise(SIGUSR2);
    sigaction(SIGUSR1, &old_inner, NULL);
    sigaction(SIGUSR2, &old_outer, NULL);
}

static const int autodisarm = (int)(1U << 31); /* SS_AUTODISARM, Linux 4.7; libc does not name it */
static stack_t second_stack;

/* On the first alternate stack: the next signal goes to the second. */
static void raise_from_alternate_stack(int signal)
{
    (void)signal;
    assert_int_equal(sigaltstack(&second_stack, NULL), 0);
    descend(3, raise_and_compare);
}

/* The kernel forgets an alternate stack while it is in use, so that a handler may name another:
 * three stacks, in no order of addresses. */
static void signals_on_several_alternate_stacks_are_passed(void **state)
{
    (void)state;
    skip_without_real_signals();
    enum { SIZE = 256 * 1024 };
    char *stacks = malloc(2 * SIZE);
    struct sigaction inner = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct sigaction outer = {.sa_handler = raise_from_alternate_stack, .sa_flags = SA_ONSTACK};
    struct sigaction old_inner, old_outer;
    stack_t old_stack;
    sigaction(SIGUSR1, &inner, &old_inner);
    sigaction(SIGUSR2, &outer, &old_outer);
    for (int order = 0; order < 2; order++) {
        stack_t first = {.ss_sp = stacks + order * SIZE, .ss_size = SIZE, .ss_flags = autodisarm};
        second_stack = first;
        second_stack.ss_sp = stacks + (1 - order) * SIZE;
        assert_int_equal(sigaltstack(&first, order == 0 ? &old_stack : NULL), 0);
        raise(SIGUSR2);
    }
    sigaltstack(&old_stack, NULL);
    sigaction(SIGUSR1, &old_inner, NULL);
    sigaction(SIGUSR2, &old_outer, NULL);
    free(stacks);
}

static sigjmp_buf after_crash;

static void on_crash(int signal, siginfo_t *info, void *context)
{
    on_signal(signal, info, context);
    siglongjmp(after_crash, 1);
}

__attribute__((noinline, no_sanitize("undefined"))) static int call_null(void)
{
    void (*volatile nowhere)(void) = NULL;
    nowhere();
    return 0;
}

static void a_real_call_through_null_is_walked(void **state)
{
    (void)state;
    struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO};
    struct sigaction old;
    sigaction(SIGSEGV, &action, &old);
    own_count = 0;
    if (sigsetjmp(after_crash, 1) == 0)
        descend(4, call_null);
    sigaction(SIGSEGV, &old, NULL);
    assert_int_equal(own_count, 4); /* left by the jump */
    assert_int_equal(from_context.pcs[0], 1);
    assert_true(lies_in(from_context.pcs[1], (void *)(uintptr_t)call_null, 4096));
    assert_true(lies_in(from_context.pcs[2], (void *)(uintptr_t)descend, 4096));
    assert_descent(from_context.pcs, from_context.walk.depth, 3);
    assert_int_equal(from_context.walk.stop, PP_STOP_END);
    own_count = 0;
}

/* ---- threads ---- */

__attribute__((noinline)) static int walk_here(void)
{
    ucontext_t here;
    getcontext(&here);
    from_context.walk =
        (pp_walk){.pcs = from_context.pcs, .space = &from_context.space, .capacity = DEPTH};
    pp_walk_from_context(&here, &from_context.walk);
    return 0;
}

static void *run_thread(void *argument)
{
    descend(3, walk_here);
    return argument;
}

static void a_thread_ends_where_it_was_cloned(void **state)
{
    (void)state;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run_thread, NULL), 0);
    pthread_join(thread, NULL);
    assert_int_equal(from_context.walk.stop, PP_STOP_END);
    assert_false(from_context.walk.guessed);
    /* walk_here, descend three times, run_thread, and a few of the C library */
    assert_in_range(from_context.walk.depth, 6, 10);
    assert_true(lies_in(from_context.pcs[4], (void *)(uintptr_t)run_thread, 4096));
}

static int run_process(void *unused)
{
    (void)unused;
    walk_here();
    return signals_seen; /* something to come back for */
}

/* musl's clone() calls another function, which has no name there. */
static void expect_in_clone(uintptr_t pc)
{
    void *function = dlsym(RTLD_DEFAULT, "clone");
    Dl_info libc, found;
    assert_int_not_equal(dladdr(function, &libc), 0);
    assert_int_not_equal(dladdr((void *)pc, &found), 0); /* NOLINT(performance-no-int-to-ptr) */
    assert_ptr_equal(found.dli_fbase, libc.dli_fbase);
    assert_true(pp_loader_is_libc() || lies_in(pc, function, 4096));
}

/* clone(2) as it is: memory shared, a stack from malloc, below which there is nothing. */
static void a_process_ends_where_it_was_cloned(void **state)
{
    (void)state;
    enum { SIZE = 64 * 1024 };
    int status = -1;
    char *stack = malloc(SIZE);
    skip_without_real_signals();
    pid_t child = clone(run_process, stack + SIZE, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    free(stack);
    assert_int_equal(from_context.walk.stop, PP_STOP_END);
    assert_false(from_context.walk.guessed);
    assert_int_equal(from_context.walk.depth, 3); /* walk_here, run_process, clone */
    assert_true(lies_in(from_context.pcs[1], (void *)(uintptr_t)run_process, 4096));
    expect_in_clone(from_context.pcs[2]);
}

static void the_main_thread_ends_at_its_start(void **state)
{
    (void)state;
    walk_here();
    assert_int_equal(from_context.walk.stop, PP_STOP_END);
    assert_false(from_context.walk.guessed);
}

static int start(void **state)
{
    (void)state;
    pp_modules_refresh();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_left_by_their_rules),
        cmocka_unit_test(rbx_carries_a_frame_as_in_lazy_binding),
        cmocka_unit_test(a_frame_may_be_found_through_memory),
        cmocka_unit_test(all_registers_are_known_at_the_leaf),
        cmocka_unit_test(a_register_that_somebody_saved_unseen_ends_the_walk),
        cmocka_unit_test(frames_too_large_for_a_word_are_left_too),
        cmocka_unit_test(a_signal_frame_restores_the_frame_pointer),
        cmocka_unit_test(a_return_address_of_zero_is_the_end),
        cmocka_unit_test(a_frame_that_does_not_rise_ends_the_walk),
        cmocka_unit_test(a_frame_that_does_not_rise_ends_a_row),
        cmocka_unit_test(a_stack_that_is_not_there_ends_the_walk),
        cmocka_unit_test(a_stack_that_ends_in_the_middle_gives_what_there_is),
        cmocka_unit_test(a_save_below_the_stack_is_looked_for_carefully),
        cmocka_unit_test(odd_stack_pointers_are_survived),
        cmocka_unit_test(corrupt_stacks_are_survived),
        cmocka_unit_test(a_call_through_a_null_pointer_shows_its_caller),
        cmocka_unit_test(a_call_to_nowhere_shows_its_caller),
        cmocka_unit_test(a_word_that_no_call_left_is_no_return_address),
        cmocka_unit_test(a_jump_to_nowhere_from_nowhere_is_one_frame),
        cmocka_unit_test(a_frame_without_a_rule_says_why),
        cmocka_unit_test(a_rule_that_fails_says_why),
        cmocka_unit_test(a_zero_below_the_frame_is_not_the_end),
        cmocka_unit_test(code_without_cfi_is_passed_by_its_frame_pointer),
        cmocka_unit_test(capacity_and_skip_cut_the_same_stack),
        cmocka_unit_test(callers_are_the_return_addresses),
        cmocka_unit_test(callers_can_be_skipped),
        cmocka_unit_test(a_callback_shows_who_called_the_library),
        cmocka_unit_test(signal_frames_are_passed),
        cmocka_unit_test(signal_frames_on_an_alternate_stack_are_passed),
        cmocka_unit_test(signals_in_signals_are_passed),
        cmocka_unit_test(signals_on_several_alternate_stacks_are_passed),
        cmocka_unit_test(a_real_call_through_null_is_walked),
        cmocka_unit_test(a_thread_ends_where_it_was_cloned),
        cmocka_unit_test(a_process_ends_where_it_was_cloned),
        cmocka_unit_test(the_main_thread_ends_at_its_start),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
