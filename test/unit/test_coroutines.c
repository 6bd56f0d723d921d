/* SPDX-License-Identifier: MIT
 *
 * test_coroutines.c: lists of coroutines, also in the child of fork; and stacks that are none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "modules/modules.h"
#include "store/labels.h"
#include "threads/coroutine_snapshot.h"
#include "threads/coroutines.h"
#include "threads/thread_snapshot.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MANY = 1000, PAGE = 4096 };

static pprof_task tasks[MANY];
static pp_arena arena = PP_ARENA_INIT;
static pp_coroutines found;

static void begin(pprof_task *task, const void *stack, size_t size)
{
    const pprof_task_options options = {
        .size = sizeof options, .stack = stack, .stack_size = size, .name = "one"};
    assert_int_equal(pprof_task_begin(task, &options), 0);
}

static void snapshot(void)
{
    const pp_coroutines_wish wish = {.with_names = true, .with_running = true};
    assert_int_equal(pp_coroutines_snapshot(&wish, &arena, &found), 0);
}

static void release(void)
{
    pp_coroutines_release(&found);
    pp_arena_release(&arena);
}

/* The only one that there is. */
static const pp_coroutine_row *row_of_one(void)
{
    snapshot();
    assert_int_equal(found.count, 1);
    return &found.rows[0];
}

static void expect_missing_frames(void)
{
    const pp_coroutine_row *row = row_of_one();
    assert_false(row->runs);
    assert_true(row->depth >= 1);
    assert_int_equal(row->pc[row->depth - 1], (uintptr_t)pprof_missing_frames + 1);
    release();
}

static void each_is_there_once(void **state)
{
    (void)state;
    static bool seen[MANY];
    uint64_t first = 0;
    memset(seen, 0, sizeof seen);
    for (unsigned i = 0; i < MANY; i++) {
        begin(&tasks[i], NULL, 0);
        first = i == 0 ? tasks[i].id_ : first;
    }
    for (unsigned i = 0; i < MANY; i += 3) { /* the last of the list, the first, and between */
        pprof_task_end(&tasks[i]);
    }
    snapshot();
    assert_int_equal(found.count, MANY - (MANY + 2) / 3);
    assert_int_equal(pp_coroutines_count(), found.count);
    for (size_t i = 0; i < found.count; i++) {
        uint64_t number = found.rows[i].id - first;
        assert_true(number < MANY && number % 3 != 0 && !seen[number]);
        assert_string_equal(found.rows[i].name, "one");
        assert_ptr_equal(found.rows[i].pc, found.rows[0].pc);
        seen[number] = true;
    }
    release();
    for (unsigned i = 0; i < MANY; i++) {
        pprof_task_end(&tasks[i]); /* nothing, where it has ended */
    }
    assert_int_equal(pp_coroutines_count(), 0);
}

static void only_what_has_begun_ends(void **state)
{
    (void)state;
    static const unsigned char contents[] = {0, 1, 0x5a, 0xff};
    pprof_task before;
    begin(&tasks[0], NULL, 0);
    for (unsigned i = 0; i < sizeof contents; i++) {
        memset(&tasks[1], contents[i], sizeof tasks[1]);
        memcpy(&before, &tasks[1], sizeof before);
        pprof_task_end(&tasks[1]);
        assert_memory_equal(&tasks[1], &before, sizeof before);
    }
    const pprof_task_options unknown = {.size = 1};
    memset(&tasks[1], 0, sizeof tasks[1]);
    assert_int_equal(pprof_task_begin(&tasks[1], &unknown), -EINVAL);
    pprof_task_resume(&tasks[1]);
    pprof_task_suspend(&tasks[1], NULL);
    pprof_task_end(&tasks[1]);
    assert_int_equal(pp_coroutines_count(), 1);
    pprof_task_end(&tasks[0]);
    assert_int_equal(pp_coroutines_count(), 0);
}

static void expect_no_second_beginning(pprof_task *task)
{
    const pprof_task_options other = {.size = sizeof other, .name = "other", .entry = 1};
    const pprof_task_options unknown = {.size = 1};
    pprof_task before;
    memcpy(&before, task, sizeof before);
    assert_int_equal(pprof_task_begin(task, &other), -EEXIST);
    assert_int_equal(pprof_task_begin(task, &unknown), -EEXIST);
    assert_int_equal(pprof_task_begin(task, NULL), -EEXIST);
    assert_memory_equal(task, &before, sizeof before);
    assert_int_equal(pp_coroutines_count(), 2);
}

static void what_has_begun_does_not_begin_again(void **state)
{
    (void)state;
    begin(&tasks[0], NULL, 0);
    begin(&tasks[1], NULL, 0);
    expect_no_second_beginning(&tasks[0]); /* the last of the list */
    expect_no_second_beginning(&tasks[1]); /* the first */
    pprof_task_resume(&tasks[0]);
    expect_no_second_beginning(&tasks[0]);
    pprof_task_suspend(&tasks[0], "it");
    expect_no_second_beginning(&tasks[0]);
    memcpy(&tasks[2], &tasks[0], sizeof tasks[2]); /* memory that a task begins in */
    begin(&tasks[2], NULL, 0);
    assert_int_equal(pp_coroutines_count(), 3);
    for (unsigned i = 0; i < 3; i++) {
        pprof_task_end(&tasks[i]);
    }
    assert_int_equal(pp_coroutines_count(), 0);
    begin(&tasks[0], NULL, 0);
    assert_string_equal(row_of_one()->name, "one");
    release();
    pprof_task_end(&tasks[0]);
}

static void one_that_runs_has_no_stack(void **state)
{
    (void)state;
    begin(&tasks[0], NULL, 0);
    pprof_task_resume(&tasks[0]);
    const pp_coroutine_row *row = row_of_one();
    assert_true(row->runs);
    assert_int_equal(row->depth, 1);
    assert_int_equal(row->pc[0], (uintptr_t)pprof_running_task + 1);
    release();
    const pp_coroutines_wish others = {.with_running = false};
    assert_int_equal(pp_coroutines_snapshot(&others, &arena, &found), 0);
    assert_int_equal(found.count, 0);
    release();
    pprof_task_end(&tasks[0]);
}

static void stacks_that_are_none(void **state)
{
    (void)state;
    const uintptr_t pc = (uintptr_t)stacks_that_are_none + 1;
    char *stack = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(stack, MAP_FAILED);
    begin(&tasks[0], stack, 2 * PAGE);
    pprof_task_resume(&tasks[0]);
    pprof_task_suspend_at(&tasks[0], pc, (uintptr_t)stack + PAGE, 0, 0, "it"); /* of zeros */
    const pp_coroutine_row *row = row_of_one();
    assert_int_equal(row->pc[0], pc);
    assert_string_equal(row->why, "it");
    release();
    memset(stack, 0xff, 2 * PAGE);
    expect_missing_frames();
    munmap(stack + PAGE, PAGE); /* which it must not be; it does no harm */
    expect_missing_frames();
    munmap(stack, PAGE);
    pprof_task_resume(&tasks[0]);
    pprof_task_suspend_at(&tasks[0], pc, UINTPTR_MAX - 7, 0, 0, "it"); /* on no stack */
    row = row_of_one();
    assert_int_equal(row->depth, 1);
    assert_int_equal(row->pc[0], pc);
    release();
    pprof_task_end(&tasks[0]);
}

static void frames_that_are_none(void **state)
{
    (void)state;
    pprof_task_frame circle = {&circle, 0x1234};
    pprof_task_frame wild = {(const pprof_task_frame *)(uintptr_t)16, 0x5678};
    begin(&tasks[0], NULL, 0);
    pprof_task_resume(&tasks[0]);
    pprof_task_suspend_in(&tasks[0], &circle, NULL);
    const pp_coroutine_row *row = row_of_one();
    assert_int_equal(row->pc[0], 0x1234);
    assert_true(row->depth > 1);
    release();
    pprof_task_resume(&tasks[0]);
    pprof_task_suspend_in(&tasks[0], &wild, NULL);
    row = row_of_one();
    assert_int_equal(row->pc[0], 0x5678);
    release();
    expect_missing_frames();
    pprof_task_end(&tasks[0]);
}

static void labels_are_inherited_and_move(void **state)
{
    (void)state;
    const char *const pair[] = {"key", "value"};
    pprof_labels *labels = pprof_labels_new(NULL, pair, 1);
    pprof_labels_unref(pprof_set_thread_labels(labels));
    begin(&tasks[0], NULL, 0);
    pprof_labels_unref(pprof_set_thread_labels(NULL));
    assert_ptr_equal(row_of_one()->labels, labels);
    release();
    pprof_task_resume(&tasks[0]);
    assert_ptr_equal(pp_labels_current(), labels);
    assert_null(row_of_one()->labels);
    release();
    pprof_task_suspend(&tasks[0], NULL);
    assert_null(pp_labels_current());
    pprof_task_resume(&tasks[0]);
    pprof_task_end(&tasks[0]); /* by itself */
    assert_null(pp_labels_current());
    assert_int_equal(labels->head.refs, 1);
    pprof_labels_unref(labels);
}

/* ---- an end excludes readers ---- */

enum { ROUNDS = 1500, PASSING = 8 };

static unsigned rounds;

/* What has ended is gone at once: its stack, and the words of the task. */
static void *begins_and_ends(void *unused)
{
    static pprof_task passing[PASSING];
    char *stacks[PASSING];
    for (; rounds < ROUNDS; __atomic_store_n(&rounds, rounds + 1, __ATOMIC_RELAXED)) {
        for (unsigned i = 0; i < PASSING; i++) {
            stacks[i] =
                mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            begin(&passing[i], stacks[i], PAGE);
            pprof_task_resume(&passing[i]);
            pprof_task_suspend_at(&passing[i], (uintptr_t)begins_and_ends + 1,
                                  (uintptr_t)stacks[i] + PAGE / 2, 0, 0, "it");
        }
        for (unsigned i = 0; i < PASSING; i++) {
            pprof_task_end(&passing[i]);
            munmap(stacks[i], PAGE);
            memset(&passing[i], 0xff, sizeof passing[i]);
        }
    }
    return unused;
}

static void an_end_waits_for_readers(void **state)
{
    (void)state;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, begins_and_ends, NULL), 0);
    while (__atomic_load_n(&rounds, __ATOMIC_RELAXED) < ROUNDS) {
        snapshot();
        assert_true(found.count <= PASSING);
        for (size_t k = 0; k < found.count; k++) {
            assert_true(found.rows[k].depth >= 1);
        }
        release();
    }
    pthread_join(thread, NULL);
}

/* ---- fork ---- */

static int end_all_in_child(void)
{
    pp_coroutines_after_fork_in_child(); /* if it has not been called yet */
    for (unsigned i = 0; i < 3; i++) {
        pprof_task_end(&tasks[i]);
    }
    return pp_coroutines_count() == 0 ? 0 : 1;
}

/* Called with the lock held: as if another thread linked or unlinked at the fork. */
static void fork_while_locked(const pprof_task *task, void *status)
{
    if (task != &tasks[1]) {
        return;
    }
    pprof_task **link = tasks[1].link_;
    tasks[1].link_ = NULL;
    pid_t child = fork();
    if (child == 0) {
        _exit(end_all_in_child());
    }
    tasks[1].link_ = link;
    waitpid(child, status, 0);
}

static void a_list_is_mended_after_fork(void **state)
{
    (void)state;
    int status = -1;
    for (unsigned i = 0; i < 3; i++) {
        begin(&tasks[i], NULL, 0);
    }
    pp_coroutines_each(true, fork_while_locked, &status);
    assert_int_equal(status, 0);
    for (unsigned i = 0; i < 3; i++) {
        pprof_task_end(&tasks[i]);
    }
}

static int refresh(void **state)
{
    (void)state;
    pp_modules_refresh();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_there_once),
        cmocka_unit_test(only_what_has_begun_ends),
        cmocka_unit_test(what_has_begun_does_not_begin_again),
        cmocka_unit_test(one_that_runs_has_no_stack),
        cmocka_unit_test(stacks_that_are_none),
        cmocka_unit_test(frames_that_are_none),
        cmocka_unit_test(labels_are_inherited_and_move),
        cmocka_unit_test(an_end_waits_for_readers),
        cmocka_unit_test(a_list_is_mended_after_fork),
    };
    return cmocka_run_group_tests(tests, refresh, NULL);
}
