/* SPDX-License-Identifier: MIT
 *
 * test_scratch.c: a buffer belongs to one borrower, and there are 64; what a borrower that was
 * jumped out of has left is taken back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "unwind/scratch.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BUFFERS = 64, THREADS = 8, ROUNDS = 20000 };

static void all_buffers_can_be_had_and_no_more(void **state)
{
    (void)state;
    pp_scratch *taken[BUFFERS];
    for (int i = 0; i < BUFFERS; i++) {
        taken[i] = pp_scratch_take();
        assert_non_null(taken[i]);
        memset(taken[i], i, sizeof *taken[i]);
    }
    assert_null(pp_scratch_take());
    for (int i = 0; i < BUFFERS; i++) {
        const uint8_t *bytes = (const uint8_t *)taken[i];
        for (size_t j = 0; j < sizeof *taken[i]; j++)
            assert_int_equal(bytes[j], i); /* nobody else wrote here */
    }
    pp_scratch_give(taken[17]);
    assert_ptr_equal(pp_scratch_take(), taken[17]);
    assert_null(pp_scratch_take());
    for (int i = BUFFERS - 1; i >= 0; i--)
        pp_scratch_give(taken[i]);
    for (int i = 0; i < BUFFERS; i++)
        assert_non_null(taken[i] = pp_scratch_take());
    for (int i = 0; i < BUFFERS; i++)
        pp_scratch_give(taken[i]);
}

/* How many can be had; they are given back. */
static int count_free(void)
{
    pp_scratch *taken[BUFFERS];
    int count = 0;
    while (count < BUFFERS && (taken[count] = pp_scratch_take()) != NULL)
        count++;
    for (int i = 0; i < count; i++)
        pp_scratch_give(taken[i]);
    return count;
}

static void *borrow(void *context)
{
    unsigned long disturbed = 0;
    for (int i = 0; i < ROUNDS; i++) {
        pp_scratch *buffer = pp_scratch_take();
        if (buffer == NULL) {
            disturbed++;
            continue;
        }
        buffer->pcs[0] = (uintptr_t)context;
        buffer->pcs[PP_SCRATCH_DEPTH - 1] = (uintptr_t)context + (uintptr_t)i;
        disturbed += buffer->pcs[0] != (uintptr_t)context ||
                     buffer->pcs[PP_SCRATCH_DEPTH - 1] != (uintptr_t)context + (uintptr_t)i;
        pp_scratch_give(buffer);
    }
    return (void *)disturbed;
}

static void threads_do_not_share_a_buffer(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, borrow, (void *)(i << 32)), 0);
    for (int i = 0; i < THREADS; i++) {
        void *disturbed = NULL;
        pthread_join(threads[i], &disturbed);
        assert_null(disturbed);
    }
}

/* Places on this thread's stack, the last of which lies furthest up. */
enum { FRAMES = 8 };
#define FRAME(i) ((uintptr_t)(stack + (i)))

enum { EPOCH = 1 };

/* Whether a walk of this thread gets the memo: no other walk that goes on has it. */
static bool memo_is_free(void)
{
    pp_memo_use use;
    pp_memo_open(&use, EPOCH);
    bool is_on = pp_memo_is_on(&use);
    pp_memo_close(&use, false, 0, NULL);
    return is_on;
}

static void what_was_jumped_out_of_is_taken_back(void **state)
{
    (void)state;
    char stack[FRAMES];
    pp_scratch *left = pp_scratch_take_at(FRAME(3));
    for (int i = 0; i < 10 * BUFFERS; i++) {
        pp_memo_open(&left->space.memo_use, EPOCH);
        assert_true(pp_memo_is_on(&left->space.memo_use));
        assert_ptr_equal(pp_scratch_take_at(FRAME(3)), left); /* the same depth again */
        assert_true(memo_is_free());                          /* the walk is known to be over */
    }
    assert_ptr_equal(pp_scratch_take_at(FRAME(4)), left);
    pp_scratch_give(left);
    assert_int_equal(count_free(), BUFFERS);
}

static void what_was_interrupted_stays(void **state)
{
    (void)state;
    char stack[FRAMES];
    pp_scratch *outer = pp_scratch_take_at(FRAME(5));
    pp_memo_open(&outer->space.memo_use, EPOCH);
    pp_scratch *inner = pp_scratch_take_at(FRAME(3));
    assert_ptr_not_equal(inner, outer);
    pp_scratch *left = pp_scratch_take_at(FRAME(1));
    assert_ptr_not_equal(left, inner);
    assert_ptr_equal(pp_scratch_take_at(FRAME(2)), left); /* of a handler that runs in a handler */
    pp_scratch_give(inner);
    assert_false(memo_is_free());
    pp_memo_close(&outer->space.memo_use, false, 0, NULL);
    assert_true(memo_is_free());
    pp_scratch_give(outer);
    assert_ptr_equal(pp_scratch_take_at(FRAME(6)), outer);
    pp_scratch_give(outer);
    assert_int_equal(count_free(), BUFFERS);
}

typedef struct ending {
    bool seen;
    int taken;
} ending;

static void *takes_some_along(void *context)
{
    ending *e = context;
    char stack[BUFFERS];
    for (int i = BUFFERS - 1; i >= 0; i--)
        e->taken += pp_scratch_take_at(FRAME(i)) != NULL;
    if (e->seen)
        pp_scratch_thread_end();
    return NULL;
}

static void what_a_thread_took_along_is_taken_back(void **state)
{
    (void)state;
    for (int seen = 0; seen < 2; seen++) {
        ending e = {.seen = seen != 0};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, takes_some_along, &e), 0);
        pthread_join(thread, NULL);
        assert_int_equal(e.taken, BUFFERS);
        assert_int_equal(count_free(), BUFFERS);
    }
}

/* A handler that interrupted a walk forks: the child goes on with the walk. */
static void a_child_keeps_what_its_thread_has(void **state)
{
    (void)state;
    char stack[FRAMES];
    pp_scratch *handler = pp_scratch_take();
    pp_scratch *mine = pp_scratch_take_at(FRAME(4));
    pid_t child = fork();
    if (child == 0) {
        pp_scratch_after_fork_in_child();
        bool kept = count_free() == BUFFERS - 1 && pp_scratch_take_at(FRAME(1)) != mine;
        pp_scratch_give(mine);
        kept = kept && pp_scratch_take_at(FRAME(5)) != NULL; /* the other one was left */
        _exit(kept && count_free() == BUFFERS - 1 ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    pp_scratch_give(mine);
    pp_scratch_give(handler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_buffers_can_be_had_and_no_more),
        cmocka_unit_test(threads_do_not_share_a_buffer),
        cmocka_unit_test(what_was_jumped_out_of_is_taken_back),
        cmocka_unit_test(what_was_interrupted_stays),
        cmocka_unit_test(what_a_thread_took_along_is_taken_back),
        cmocka_unit_test(a_child_keeps_what_its_thread_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
