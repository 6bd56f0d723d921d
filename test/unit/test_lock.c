/* SPDX-License-Identifier: MIT
 *
 * test_lock.c: the lock that knows its owner, and giving up on it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sys/lock.h"

#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

enum { US = 1, ANOTHER = 2, ROUNDS = 20000, WORKERS = 4 };

static const uint64_t for_ever_ns = INT64_MAX;

static pp_lock lock;

static int free_lock(void **state)
{
    (void)state;
    lock = (pp_lock){0};
    return 0;
}

static void a_free_lock_is_had_without_patience(void **state)
{
    (void)state;
    assert_true(pp_lock_take_within(&lock, US, 0));
    assert_true(pp_lock_held_by(&lock, US));
    assert_false(pp_lock_try(&lock, ANOTHER));
    pp_lock_release(&lock);
    assert_false(pp_lock_held_by(&lock, US));
    assert_true(pp_lock_try(&lock, ANOTHER));
}

static void the_owner_does_not_wait_for_itself(void **state)
{
    (void)state;
    pp_lock_take(&lock, US);
    assert_false(pp_lock_take_within(&lock, US, for_ever_ns));
    assert_true(pp_lock_held_by(&lock, US));
}

static void a_lock_that_stays_taken_is_given_up(void **state)
{
    (void)state;
    pp_lock_take(&lock, ANOTHER);
    assert_false(pp_lock_take_within(&lock, US, 0));
    assert_false(pp_lock_take_within(&lock, US, 5000000));
    assert_true(pp_lock_held_by(&lock, ANOTHER));
}

static void *give_back(void *context)
{
    for (int i = 0; i < 100; i++) {
        sched_yield();
    }
    pp_lock_release(&lock);
    return context;
}

static void a_lock_that_is_given_back_is_had(void **state)
{
    (void)state;
    pthread_t thread;
    pp_lock_take(&lock, ANOTHER);
    assert_int_equal(pthread_create(&thread, NULL, give_back, NULL), 0);
    assert_true(pp_lock_take_within(&lock, US, for_ever_ns));
    assert_true(pp_lock_held_by(&lock, US));
    pthread_join(thread, NULL);
}

static void *take_and_give_back(void *unused)
{
    pp_lock_take(&lock, US);
    pp_lock_release(&lock);
    return unused;
}

static void wait_for_sleeper(void)
{
    while ((__atomic_load_n(&lock.owner, __ATOMIC_RELAXED) & PP_LOCK_AWAITED) == 0) {
        sched_yield();
    }
}

static void threads_that_wait_sleep_and_each_has_it(void **state)
{
    (void)state;
    pthread_t threads[WORKERS];
    pp_lock_take(&lock, ANOTHER);
    for (int i = 0; i < WORKERS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, take_and_give_back, NULL), 0);
    }
    wait_for_sleeper();
    assert_true(pp_lock_held_by(&lock, ANOTHER));
    pp_lock_release(&lock);
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(lock.owner, 0);
}

/* The child has no thread that waits: after the first release it need not call the kernel for one. */
static void a_child_of_fork_forgets_who_waits(void **state)
{
    (void)state;
    pthread_t thread;
    pp_lock_take(&lock, ANOTHER);
    assert_int_equal(pthread_create(&thread, NULL, take_and_give_back, NULL), 0);
    wait_for_sleeper();
    pid_t child = fork();
    if (child == 0) {
        pp_lock_release(&lock);
        pp_lock_take(&lock, US);
        _exit(lock.owner == US ? 0 : 1);
    }
    pp_lock_release(&lock);
    pthread_join(thread, NULL);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* It cannot know whether it was the only one. */
static void a_thread_that_has_slept_wakes_others(void **state)
{
    (void)state;
    pp_lock_take(&lock, ANOTHER);
    int owner = pp_lock_sleep(&lock, US, 1);
    assert_true(pp_lock_held_by(&lock, ANOTHER));
    pp_lock_release(&lock);
    assert_true(pp_lock_try(&lock, owner));
    assert_true(pp_lock_held_by(&lock, US));
    assert_int_equal(pp_lock_holder(&lock), US);
    assert_int_not_equal(lock.owner, US);
}

static unsigned long counter; /* plain: what the lock guards */

static void *count_up(void *context)
{
    int self = *(const int *)context;
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 2 == 0) {
            pp_lock_take(&lock, self);
        } else if (!pp_lock_take_within(&lock, self, for_ever_ns)) {
            return NULL;
        }
        counter++;
        pp_lock_release(&lock);
    }
    return context;
}

static void one_at_a_time_is_inside(void **state)
{
    (void)state;
    pthread_t threads[WORKERS];
    int ids[WORKERS];
    counter = 0;
    for (int i = 0; i < WORKERS; i++) {
        ids[i] = i + 1;
        assert_int_equal(pthread_create(&threads[i], NULL, count_up, &ids[i]), 0);
    }
    for (int i = 0; i < WORKERS; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        assert_ptr_equal(result, &ids[i]);
    }
    assert_int_equal(counter, (unsigned long)WORKERS * ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_free_lock_is_had_without_patience, free_lock),
        cmocka_unit_test_setup(the_owner_does_not_wait_for_itself, free_lock),
        cmocka_unit_test_setup(a_lock_that_stays_taken_is_given_up, free_lock),
        cmocka_unit_test_setup(a_lock_that_is_given_back_is_had, free_lock),
        cmocka_unit_test_setup(threads_that_wait_sleep_and_each_has_it, free_lock),
        cmocka_unit_test_setup(a_child_of_fork_forgets_who_waits, free_lock),
        cmocka_unit_test_setup(a_thread_that_has_slept_wakes_others, free_lock),
        cmocka_unit_test_setup(one_at_a_time_is_inside, free_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
