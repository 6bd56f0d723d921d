/* SPDX-License-Identifier: MIT
 *
 * test_waiters.c: whoever copies a waiter has all of one wait, or nothing; and knows whether that
 * wait still goes on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "interleave/scenario.h"

/* Coroutines are on no alternate stack: the kernel need not be asked. */
#include "sys/left_frame.h"
#define pp_frame_was_left(then, now) ((then) <= (now))
#include "kinds/contention/waiters.c"

enum { FIRST = 0x1000, SECOND = 0x2000, USED = 4 /* waiters, at most */ };

PP_TLS pprof_labels *pp_labels_of_thread;
static uint64_t stack_word; /* of the thread that waits: changes once it does not */

uint64_t pp_contended_leave(pp_place *place, bool got_it, uint64_t *unseen_ns)
{
    (void)got_it;
    *unseen_ns = 0;
    place->at = NULL;
    return 0;
}

/* Every field says the same. */
static pp_waiter *begin_wait(uintptr_t object)
{
    pp_caller caller = {object, object, object, object, object};
    pp_labels_of_thread = (pprof_labels *)object;
    pp_waiter *waiter = pp_waiter_new(object, &caller);
    MODEL_CHECK(waiter != NULL);
    pp_waiter_show(waiter, object);
    return waiter;
}

static void end_wait(pp_waiter *waiter)
{
    pp_waiter_hide(waiter);
    pp_waiter_free(waiter);
}

static void wait_once(void)
{
    end_wait(begin_wait(FIRST));
    __atomic_store_n(&stack_word, 1, __ATOMIC_RELAXED);
}

static void wait_for_other(void)
{
    end_wait(begin_wait(SECOND));
}

static void wait_twice(void)
{
    pp_waiters_thread_begin();
    end_wait(begin_wait(FIRST));
    end_wait(begin_wait(SECOND));
    pp_waiters_thread_end();
}

static void wait_in_a_wait(void)
{
    pp_waiter *outer = begin_wait(SECOND);
    pp_waiter *inner = begin_wait(FIRST); /* in a handler */
    end_wait(inner);
    end_wait(outer);
}

static void jump_out_of_a_wait_in_a_wait(void)
{
    pp_waiter *outer = begin_wait(SECOND);
    begin_wait(FIRST); /* in a handler, in which another one jumps back to the first */
    end_wait(outer);
}

static bool is_of(const pp_waiter *copy, uintptr_t object)
{
    const pp_caller *c = &copy->caller;
    return copy->object == object && copy->since_ns == object &&
           (uintptr_t)copy->labels == object && c->leaf == object && c->return_address == object &&
           c->sp == object && c->fp == object && c->bx == object;
}

static void see_copy(const pp_waiter *copy, const pp_waiter *waiter, void *context)
{
    (void)waiter, (void)context;
    MODEL_CHECK(is_of(copy, FIRST) || is_of(copy, SECOND));
}

static void read_copies(void)
{
    pp_waiters_each(see_copy, NULL);
}

/* As one who walks the stack of the thread that waits, and asks then whether it does still. */
static void see_stack(const pp_waiter *copy, const pp_waiter *waiter, void *context)
{
    (void)context;
    uint64_t word = __atomic_load_n(&stack_word, __ATOMIC_RELAXED);
    MODEL_CHECK(word == 0 || !pp_waiter_still_waits(waiter, copy));
}

static void read_stack(void)
{
    pp_waiters_each(see_stack, NULL);
}

static void all_are_given_back(void)
{
    MODEL_CHECK(pp_waiters.taken[0] == 0);
    for (size_t i = 0; i < USED; i++) {
        MODEL_CHECK(pp_waiters.waiters[i].serial % 2 == 0);
    }
    MODEL_CHECK(pp_waiters.listed[pp_contention_hash(FIRST)] == 0);
    MODEL_CHECK(pp_waiters.listed[pp_contention_hash(SECOND)] == 0);
}

/* As a mutex: the waiter stores to its word once it is shown; who unlocks reads the word first. libc's exchange has
 * an acquire, which comes after the release of the record's list on the machines that there are; the release stands for both. */
static uint64_t lock_word;

static void wait_for_word(void)
{
    begin_wait(FIRST);
    __atomic_store_n(&lock_word, 2, __ATOMIC_RELEASE);
}

static void unlock(void)
{
    uint64_t word = __atomic_load_n(&lock_word, __ATOMIC_RELAXED);
    MODEL_CHECK(word == 0 || pp_waiters_any(FIRST));
}

static const model_scenario unlocked = {"unlocked", NULL, {wait_for_word, unlock}, NULL};
static const model_scenario copies = {
    "copies", NULL, {wait_twice, read_copies}, all_are_given_back};
/* The second thread gets the waiter of the first. */
static const model_scenario handed_on = {
    "handed on", NULL, {wait_once, wait_for_other, read_copies}, all_are_given_back};
static const model_scenario stacks = {"stacks", NULL, {wait_once, read_stack}, all_are_given_back};
static const model_scenario reused = {
    "pool", NULL, {wait_once, wait_in_a_wait, read_copies}, all_are_given_back};
static const model_scenario left = {
    "left", NULL, {jump_out_of_a_wait_in_a_wait, read_copies}, all_are_given_back};

static void a_copy_is_of_one_wait(void **state)
{
    (void)state;
    assert_holds(&copies);
    assert_holds(&handed_on);
    assert_holds_within(&reused, 1, 0);
}

static void a_stack_is_that_of_the_wait(void **state)
{
    (void)state;
    assert_holds(&stacks);
}

static void who_unlocks_sees_who_waits(void **state)
{
    (void)state;
    assert_holds(&unlocked);
    assert_is_caught(&unlocked, "pp_waiters_any", MODEL_FENCE, __ATOMIC_RELAXED);
}

static void what_a_jump_leaves_goes_with_the_wait_around_it(void **state)
{
    (void)state;
    assert_holds(&left);
}

static void weaker_orders_are_found_out(void **state)
{
    (void)state;
    assert_is_caught(&handed_on, "pp_waiter_new", MODEL_FENCE, __ATOMIC_RELAXED);
    assert_is_caught(&copies, "pp_waiter_show", MODEL_STORE, __ATOMIC_RELAXED);
    assert_is_caught(&copies, "copy_if_shown", MODEL_LOAD, __ATOMIC_RELAXED);
    assert_is_caught(&copies, "pp_waiter_still_waits", MODEL_FENCE, __ATOMIC_RELAXED);
    assert_is_caught(&stacks, "pp_waiter_hide", MODEL_FENCE, __ATOMIC_RELAXED);
    assert_is_caught(&stacks, "pp_waiter_still_waits", MODEL_FENCE, __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_is_of_one_wait),
        cmocka_unit_test(a_stack_is_that_of_the_wait),
        cmocka_unit_test(who_unlocks_sees_who_waits),
        cmocka_unit_test(what_a_jump_leaves_goes_with_the_wait_around_it),
        cmocka_unit_test(weaker_orders_are_found_out),
    };
    read_bounds(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
