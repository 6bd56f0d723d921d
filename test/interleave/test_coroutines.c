/* SPDX-License-Identifier: MIT
 *
 * test_coroutines.c: whoever reads a suspended coroutine has the words and the stack of one
 * suspension, or nothing; also if another thread resumes it than the one that has suspended it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* As on processors that need one. */
#define PPROF_TASK_FENCE() __atomic_thread_fence(__ATOMIC_RELEASE)

#include "interleave/no_thread_context.h"
#include "interleave/scenario.h"
#include "store/labels.c"
#include "store/labels_pool.c"
#include "threads/coroutines.c"

enum { FIRST = 0x1000, SECOND = 0x2000, THIRD = 0x3000 };

static pprof_task task;
static uint64_t stack_word; /* what the coroutine has on its stack */
static uint32_t turn;       /* of the second thread */

static int read_no_clock(clockid_t clock, struct timespec *now)
{
    (void)clock, (void)now;
    return -1;
}

pp_clock_function *pp_clock_reader = read_no_clock;

int pp_task_self(void)
{
    return 1;
}

void pprof_task_suspending(pprof_task *suspended)
{
    (void)suspended;
    MODEL_CHECK(false);
}

void pprof_task_resumed(pprof_task *resumed)
{
    (void)resumed;
    MODEL_CHECK(false);
}

/* Every word says the same. */
static void suspend(uintptr_t word)
{
    __atomic_store_n(&stack_word, word, __ATOMIC_RELAXED);
    pprof_task_suspend_at(&task, word, word, word, word, (const char *)word);
}

static void set_up(void)
{
    task = (pprof_task){.work_ = &pp_switch_work, .stack_end_ = UINTPTR_MAX, .sequence_ = 1};
    turn = 0;
    suspend(FIRST);
}

static void switch_twice(void)
{
    pprof_task_resume(&task);
    suspend(SECOND);
    pprof_task_resume(&task);
    suspend(THIRD);
}

static void switch_and_hand_on(void)
{
    pprof_task_resume(&task);
    suspend(SECOND);
    __atomic_store_n(&turn, 1, __ATOMIC_RELEASE);
}

static void take_over(void)
{
    if (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) == 1) {
        pprof_task_resume(&task);
        suspend(THIRD);
    }
}

static void look(void)
{
    pp_suspension s;
    if (!pp_coroutine_read(&task, &s)) {
        return;
    }
    uintptr_t word = s.caller.return_address;
    MODEL_CHECK(s.caller.sp == word && s.caller.fp == word && s.caller.bx == word &&
                (uintptr_t)s.why == word);
    uint64_t on_stack = __atomic_load_n(&stack_word, __ATOMIC_RELAXED);
    MODEL_CHECK(on_stack == word || !pp_coroutine_is_still(&task, &s));
}

static void is_suspended(void)
{
    MODEL_CHECK(task.sequence_ % 2 == 0);
}

static const model_scenario switches = {"switches", set_up, {switch_twice, look}, is_suspended};
static const model_scenario moves = {
    "moves", set_up, {switch_and_hand_on, take_over, look}, is_suspended};

static void what_is_read_is_of_one_suspension(void **state)
{
    (void)state;
    assert_holds(&switches);
    assert_holds(&moves);
}

static void weaker_orders_are_found_out(void **state)
{
    (void)state;
    assert_is_caught(&switches, "pprof_task_resume", MODEL_FENCE, __ATOMIC_RELAXED);
    assert_is_caught(&switches, "pprof_task_suspend_at", MODEL_STORE, __ATOMIC_RELAXED);
    assert_is_caught(&switches, "pp_coroutine_read", MODEL_LOAD, __ATOMIC_RELAXED);
    assert_is_caught(&switches, "pp_coroutine_is_still", MODEL_FENCE, __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_is_of_one_suspension),
        cmocka_unit_test(weaker_orders_are_found_out),
    };
    read_bounds(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
