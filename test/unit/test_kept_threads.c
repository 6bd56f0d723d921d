/* SPDX-License-Identifier: MIT
 *
 * test_kept_threads.c: a wait is found as long as nothing says that it may be over, and what is
 * kept does not grow.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "modules/loader.h"
#include "modules/modules.h"
#include "sys/clock.h"
#include "sys/tasks.h"
#include "threads/kept_threads.h"

#include <sys/wait.h>
#include <unistd.h>

enum { CALL = 7, DEPTH = 3 };

static const uintptr_t stack[DEPTH] = {0x1001, 0x2002, 0x3003};
static const pp_task_place place = {.call = CALL, .argument = {1, 2}, .sp = 3, .pc = 4};

static pp_sight sight_of(int tid)
{
    return (pp_sight){.tid = tid, .serial = (uint64_t)tid * 2 + 1, .clock_ns = tid * 1000L};
}

static bool add(pp_kept_threads *kept, int tid)
{
    pp_sight sight = sight_of(tid);
    return pp_kept_add(kept, &sight, &place, stack, DEPTH, NULL) != NULL;
}

static bool is_kept(pp_kept_threads *kept, int tid)
{
    pp_sight sight = sight_of(tid);
    return pp_kept_find(kept, &sight) != NULL;
}

/* Adds `tid` in a round of its own. */
static void keep(int tid)
{
    pp_kept_threads *kept = pp_kept_take();
    assert_non_null(kept);
    assert_true(add(kept, tid));
    pp_kept_give_back(kept);
}

/* Whether the next round finds `tid`. */
static bool is_kept_later(int tid)
{
    pp_kept_threads *kept = pp_kept_take();
    bool found = is_kept(kept, tid);
    pp_kept_give_back(kept);
    return found;
}

static int begin(void **state)
{
    (void)state;
    pp_modules_init();
    pp_modules_refresh();
    return pp_loader_epoch_is_known() ? 0 : -1;
}

static int forget(void **state)
{
    (void)state;
    pp_kept_after_fork_in_child();
    return 0;
}

static void a_wait_is_found_with_all_that_was_kept(void **state)
{
    (void)state;
    pp_arena arena = PP_ARENA_INIT;
    uint32_t depth = 0;
    keep(10);
    pp_kept_threads *kept = pp_kept_take();
    pp_sight sight = sight_of(10);
    const pp_kept_wait *wait = pp_kept_find(kept, &sight);
    assert_non_null(wait);
    assert_memory_equal(&wait->place, &place, sizeof place);
    const uintptr_t *pcs = pp_kept_stack_in(kept, wait, &arena, &depth);
    assert_int_equal(depth, DEPTH);
    assert_memory_equal(pcs, stack, sizeof stack);
    pp_kept_give_back(kept);
    assert_memory_equal(pcs, stack, sizeof stack);
    pp_arena_release(&arena);
}

static void a_thread_that_ran_is_not_found(void **state)
{
    (void)state;
    keep(10);
    pp_kept_threads *kept = pp_kept_take();
    pp_sight sight = sight_of(10);
    sight.clock_ns++;
    assert_null(pp_kept_find(kept, &sight));
    sight.clock_ns = -1;
    assert_null(pp_kept_find(kept, &sight));
    assert_true(is_kept(kept, 10));
    pp_kept_give_back(kept);
}

static void another_thread_of_the_same_id_is_not_found(void **state)
{
    (void)state;
    keep(10);
    pp_kept_threads *kept = pp_kept_take();
    pp_sight sight = sight_of(10);
    sight.serial += 2;
    assert_null(pp_kept_find(kept, &sight));
    assert_non_null(pp_kept_add(kept, &sight, &place, stack, DEPTH, NULL));
    assert_false(is_kept(kept, 10));
    pp_kept_give_back(kept);
}

static void a_thread_without_a_record_is_not_kept_but_the_first_is(void **state)
{
    (void)state;
    pp_kept_threads *kept = pp_kept_take();
    pp_sight sight = {.tid = pp_task_process() + 1, .clock_ns = 5};
    assert_null(pp_kept_add(kept, &sight, &place, stack, DEPTH, NULL));
    sight.tid = pp_task_process();
    assert_non_null(pp_kept_add(kept, &sight, &place, stack, DEPTH, NULL));
    assert_non_null(pp_kept_find(kept, &sight));
    pp_kept_give_back(kept);
}

static void nothing_is_found_after_an_unload(void **state)
{
    (void)state;
    keep(10);
    assert_true(is_kept_later(10));
    pp_loader_note_change();
    assert_false(is_kept_later(10));
    keep(10);
    assert_true(is_kept_later(10));
}

/* ---- clocks ---- */

static pp_clock_function *real_clock;
static time_t seconds_later;

static int coarse_clock(clockid_t clock, struct timespec *now)
{
    int error = real_clock(clock, now);
    now->tv_nsec -= now->tv_nsec % 4000000;
    return error;
}

static int later_clock(clockid_t clock, struct timespec *now)
{
    int error = real_clock(clock, now);
    now->tv_sec += seconds_later;
    return error;
}

static void with_clock(pp_clock_function *clock)
{
    pp_clock_ns(CLOCK_MONOTONIC); /* finds the real one */
    real_clock = pp_clock_reader;
    pp_clock_reader = clock;
}

static void nothing_is_kept_by_a_coarse_clock(void **state)
{
    (void)state;
    keep(10);
    with_clock(coarse_clock);
    bool taken = pp_kept_take() != NULL;
    pp_clock_reader = real_clock;
    assert_false(taken);
    assert_false(is_kept_later(10));
}

static void a_wait_is_found_for_a_minute(void **state)
{
    (void)state;
    keep(10);
    with_clock(later_clock);
    seconds_later = 30;
    bool kept_at_first = is_kept_later(10);
    seconds_later = 61;
    bool kept_then = is_kept_later(10);
    pp_clock_reader = real_clock;
    assert_true(kept_at_first);
    assert_false(kept_then);
}

/* ---- memory ---- */

static void equal_stacks_are_one(void **state)
{
    (void)state;
    pp_arena arena = PP_ARENA_INIT;
    uint32_t depth = 0;
    keep(10);
    pp_kept_threads *kept = pp_kept_take();
    assert_true(add(kept, 20));
    pp_sight one = sight_of(10);
    pp_sight other = sight_of(20);
    const uintptr_t *pcs = pp_kept_stack_in(kept, pp_kept_find(kept, &one), &arena, &depth);
    assert_ptr_equal(pcs, pp_kept_stack_in(kept, pp_kept_find(kept, &other), &arena, &depth));
    pp_kept_give_back(kept);
    pp_arena_release(&arena);
}

static void threads_that_are_gone_leave(void **state)
{
    (void)state;
    enum { MANY = 1000, FEW = 10 };
    pp_kept_threads *kept = pp_kept_take();
    for (int i = 1; i <= MANY; i++) {
        assert_true(add(kept, i));
    }
    pp_kept_give_back(kept);
    kept = pp_kept_take();
    for (int i = 1; i <= FEW; i++) {
        assert_true(is_kept(kept, i));
    }
    pp_kept_give_back(kept);
    kept = pp_kept_take();
    for (int i = 1; i <= MANY; i++) {
        assert_int_equal(is_kept(kept, i), i <= FEW);
    }
    pp_kept_give_back(kept);
}

static void memory_is_bounded(void **state)
{
    (void)state;
    enum { DEEP = 4096, MANY = 20000 };
    static uintptr_t deep[DEEP];
    pp_kept_threads *kept = pp_kept_take();
    int added = 0;
    for (int i = 1; i <= MANY; i++) {
        pp_sight sight = sight_of(i);
        deep[0] = (uintptr_t)i;
        added += pp_kept_add(kept, &sight, &place, deep, DEEP, NULL) != NULL;
    }
    assert_in_range(added, 100, 1000); /* 16 MiB of 32 KiB each */
    assert_true(is_kept(kept, 1));
    assert_false(is_kept(kept, MANY));
    pp_kept_give_back(kept);
    assert_true(is_kept_later(1));
    keep(MANY); /* the others have left */
    assert_true(is_kept_later(MANY));
}

static void two_snapshots_at_a_time_have_one_each(void **state)
{
    (void)state;
    keep(10);
    pp_kept_threads *first = pp_kept_take();
    pp_kept_threads *second = pp_kept_take();
    assert_ptr_not_equal(first, second);
    assert_true(is_kept(first, 10));
    assert_false(is_kept(second, 10));
    assert_true(add(second, 20));
    pp_kept_give_back(first);
    pp_kept_give_back(second);
    assert_true(is_kept_later(20));
    assert_false(is_kept_later(10));
}

static void without_memory_nothing_is_found(void **state)
{
    (void)state;
    size_t count = 1;
    assert_false(is_kept(NULL, 10));
    assert_false(add(NULL, 10));
    assert_null(pp_kept_list(NULL, &count));
    assert_int_equal(count, 0);
    pp_kept_set_list(NULL, (const int[]){1}, 1);
    pp_kept_give_back(NULL);
}

/* ---- the list ---- */

static void the_list_is_the_last_one(void **state)
{
    (void)state;
    enum { MANY = 1000 };
    static int tids[MANY];
    size_t count = 0;
    for (int i = 0; i < MANY; i++) {
        tids[i] = i + 1;
    }
    pp_kept_threads *kept = pp_kept_take();
    assert_null(pp_kept_list(kept, &count));
    pp_kept_set_list(kept, tids, 2);
    pp_kept_give_back(kept);
    kept = pp_kept_take();
    const int *list = pp_kept_list(kept, &count);
    assert_int_equal(count, 2);
    assert_int_equal(list[1], 2);
    pp_kept_set_list(kept, tids, MANY);
    list = pp_kept_list(kept, &count);
    assert_int_equal(count, MANY);
    assert_memory_equal(list, tids, sizeof tids);
    pp_kept_give_back(kept);
}

/* ---- fork ---- */

static void a_child_begins_with_none(void **state)
{
    (void)state;
    int status = -1;
    keep(10);
    pid_t child = fork(); /* the unit's: no hook sees it */
    if (child == 0) {
        _exit(is_kept_later(10) ? 1 : 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(is_kept_later(10));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_wait_is_found_with_all_that_was_kept, forget),
        cmocka_unit_test_teardown(a_thread_that_ran_is_not_found, forget),
        cmocka_unit_test_teardown(another_thread_of_the_same_id_is_not_found, forget),
        cmocka_unit_test_teardown(a_thread_without_a_record_is_not_kept_but_the_first_is, forget),
        cmocka_unit_test_teardown(nothing_is_found_after_an_unload, forget),
        cmocka_unit_test_teardown(nothing_is_kept_by_a_coarse_clock, forget),
        cmocka_unit_test_teardown(a_wait_is_found_for_a_minute, forget),
        cmocka_unit_test_teardown(equal_stacks_are_one, forget),
        cmocka_unit_test_teardown(threads_that_are_gone_leave, forget),
        cmocka_unit_test_teardown(memory_is_bounded, forget),
        cmocka_unit_test_teardown(two_snapshots_at_a_time_have_one_each, forget),
        cmocka_unit_test_teardown(without_memory_nothing_is_found, forget),
        cmocka_unit_test_teardown(the_list_is_the_last_one, forget),
        cmocka_unit_test_teardown(a_child_begins_with_none, forget),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
