/* SPDX-License-Identifier: MIT
 *
 * test_own_frames.c: which frames of ours are cut, and what a sample in our code shows. Functions
 * of this file play libpprof's; they are in a section that is said to be our code.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arch/shown_as.h"
#include "pprof.h"
#include "unwind/own_frames.h"
#include "unwind/walk.h"

#include <signal.h>
#include <sys/auxv.h>
#include <ucontext.h>

enum { CAPACITY = 64 };

#define OURS __attribute__((noinline, used, section("our_code")))
/* NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the linker's names */
extern const char __start_our_code[], __stop_our_code[];

/* Bodies are long enough for an address within. */
static volatile int work;
OURS void ours_hook(void);
OURS void ours_hook(void)
{
    work++;
}
OURS void ours_jumped_to(void);
OURS void ours_jumped_to(void)
{
    work += 2;
}
OURS void ours_called_by_libc(void);
OURS void ours_called_by_libc(void)
{
    work += 3;
}
OURS void ours_asks_libc(void);
OURS void ours_asks_libc(void)
{
    work += 4;
}
OURS void ours_stays(void);
OURS void ours_stays(void)
{
    work += 5;
}

__asm__(PP_SHOWN_AS_ROW("ours_jumped_to", "ours_hook"));
PP_NOT_SHOWN(ours_called_by_libc);
PP_OWN_WORK(ours_asks_libc);
__asm__(PP_TABLE_ROW("pp_stays", "ours_stays + 4 - .", "0"));

/* A return-like address in a function. */
static uintptr_t in(void (*function)(void))
{
    return (uintptr_t)function + 4;
}

/* Not of ours. */
enum { MAIN = 0x1000, REAL = 0x2000, HANDLER = 0x3000, LIBC = 0x4000 };

static int begin(void **state)
{
    (void)state;
    pp_own_code.known = true;
    pp_own_code.start = (uintptr_t)__start_our_code;
    pp_own_code.bytes = (uintptr_t)(__stop_our_code - __start_our_code);
    pp_own_code.clock = (uintptr_t)getauxval(AT_SYSINFO_EHDR);
    return 0;
}

/* The stack up to a 0, cut, is that other one. */
static void expect(const uintptr_t *stack, bool is_interrupted, const uintptr_t *expected)
{
    static pp_walk_space space;
    uintptr_t pcs[CAPACITY];
    uint32_t depth = 0;
    uint32_t left = 0;
    while (stack[depth] != 0) {
        pcs[depth] = stack[depth];
        depth++;
    }
    uint32_t first = pp_own_frames_next(NULL, pcs, 0, depth);
    left = first < depth
               ? pp_own_frames_cut(NULL, pcs, first, depth, is_interrupted ? &space : NULL)
               : depth;
    for (uint32_t i = 0; i < left; i++)
        assert_int_equal(pcs[i], expected[i]);
    assert_int_equal(expected[left], 0);
}

#define STACK(...)                                                                                 \
    (const uintptr_t[])                                                                            \
    {                                                                                              \
        __VA_ARGS__, 0                                                                             \
    }

static void a_stack_without_stays_as_it_is(void **state)
{
    (void)state;
    expect(STACK(REAL, MAIN), true, STACK(REAL, MAIN));
    expect(STACK(REAL, MAIN), false, STACK(REAL, MAIN));
}

static void between_the_real_function_and_its_caller_there_is_nothing(void **state)
{
    (void)state;
    expect(STACK(REAL, in(ours_hook), in(ours_hook), MAIN), true, STACK(REAL, MAIN));
    expect(STACK(REAL, in(ours_hook), in(ours_hook), MAIN), false, STACK(REAL, MAIN));
    expect(STACK(REAL, in(ours_hook), LIBC, in(ours_jumped_to), MAIN), true,
           STACK(REAL, LIBC, MAIN));
    expect(STACK(in(ours_hook), in(ours_hook), MAIN), false, STACK(MAIN));
}

static void a_sample_in_our_code_shows_what_the_program_called(void **state)
{
    (void)state;
    uintptr_t hook = (uintptr_t)ours_hook + 1;
    expect(STACK(in(ours_asks_libc), in(ours_hook), MAIN), true, STACK(hook, MAIN));
    expect(STACK(in(ours_hook), MAIN), true, STACK(hook, MAIN));
    expect(STACK(in(ours_asks_libc), in(ours_jumped_to), MAIN), true, STACK(hook, MAIN));
    expect(STACK(in(ours_hook), REAL, in(ours_hook), MAIN), true, STACK(hook, REAL, MAIN));
}

static void what_libc_calls_is_not_shown(void **state)
{
    (void)state;
    expect(STACK(in(ours_hook), in(ours_called_by_libc), LIBC), true, STACK(LIBC));
    /* But for a stack that has nothing else. */
    expect(STACK(in(ours_called_by_libc)), true, STACK(in(ours_called_by_libc)));
}

static void what_we_ask_of_others_is_our_work(void **state)
{
    (void)state;
    uintptr_t hook = (uintptr_t)ours_hook + 1;
    expect(STACK(LIBC, LIBC, in(ours_asks_libc), in(ours_hook), MAIN), true, STACK(hook, MAIN));
    expect(STACK(in(ours_called_by_libc), LIBC, in(ours_asks_libc), in(ours_hook), MAIN), true,
           STACK(hook, MAIN));
    if (pp_own_code.clock != 0)
        expect(STACK(pp_own_code.clock + 100, in(ours_jumped_to), MAIN), true, STACK(hook, MAIN));
    /* A host's handler in the middle of it is the host's. */
    expect(STACK(HANDLER, in(ours_hook), in(ours_hook), MAIN), true, STACK(HANDLER, MAIN));
}

static void a_hook_in_the_place_of_the_real_function_stays(void **state)
{
    (void)state;
    expect(STACK(REAL, in(ours_stays), MAIN), true, STACK(REAL, in(ours_stays), MAIN));
    expect(STACK(REAL, in(ours_hook), in(ours_stays), MAIN), true,
           STACK(REAL, in(ours_stays), MAIN));
    expect(STACK(in(ours_stays), MAIN), true, STACK((uintptr_t)ours_stays + 1, MAIN));
}

/* ---- walks ---- */

static uintptr_t pcs[CAPACITY];
static size_t depth;
static int skipped;

__attribute__((noinline)) static void asks_callers(void)
{
    depth = pprof_callers(skipped, pcs, CAPACITY);
    __asm__ volatile("");
}

OURS void ours_calls_back(void (*function)(void));
OURS void ours_calls_back(void (*function)(void))
{
    function();
    __asm__ volatile("");
}

__attribute__((noinline)) static void calls_by_way_of_us(void)
{
    ours_calls_back(asks_callers);
    __asm__ volatile("");
}

static void a_frame_that_is_not_there_cannot_be_skipped(void **state)
{
    (void)state;
    uintptr_t whole[3];
    skipped = 0;
    calls_by_way_of_us();
    memcpy(whole, pcs, sizeof whole);
    for (size_t i = 0; i < depth; i++)
        assert_false(pp_own_frame_is(NULL, pcs[i]));
    for (skipped = 1; skipped < 3; skipped++) {
        calls_by_way_of_us();
        if (skipped == 2)
            assert_true(pcs[0] != whole[1]);
        else
            assert_int_equal(pcs[0], whole[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_stack_without_stays_as_it_is, begin),
        cmocka_unit_test_setup(between_the_real_function_and_its_caller_there_is_nothing, begin),
        cmocka_unit_test_setup(a_sample_in_our_code_shows_what_the_program_called, begin),
        cmocka_unit_test_setup(what_libc_calls_is_not_shown, begin),
        cmocka_unit_test_setup(what_we_ask_of_others_is_our_work, begin),
        cmocka_unit_test_setup(a_hook_in_the_place_of_the_real_function_stays, begin),
        cmocka_unit_test_setup(a_frame_that_is_not_there_cannot_be_skipped, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
