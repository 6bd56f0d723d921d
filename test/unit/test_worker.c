/* SPDX-License-Identifier: MIT
 *
 * test_worker.c: a worker with random intervals rests as long as it was told to, and not longer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/worker.h"

#include <sched.h>
#include <semaphore.h>

enum { MEAN_NS = 1000000, A_DAY = 24 * 3600 * 1000 /* of these */ };

static sem_t has_worked, goes_on;
static pp_worker worker;

static void work(void)
{
    sem_post(&has_worked);
    sem_wait(&goes_on);
}

static unsigned left;

static void leave(void)
{
    left++;
}

static void wait_for_call(void)
{
    assert_int_equal(sem_wait(&has_worked), 0);
}

static void a_rest_is_over_when_the_pace_is_quicker(void **state)
{
    (void)state;
    worker.work = work;
    assert_int_equal(pp_worker_begin_at_random(&worker, MEAN_NS), 0);
    for (int i = 0; i < 3; i++) {
        wait_for_call();
        pp_worker_set_pace(&worker, A_DAY);
        sem_post(&goes_on);
        while (__atomic_load_n(&worker.paced, __ATOMIC_ACQUIRE) != A_DAY) {
            sched_yield();
        }
        pp_worker_set_pace(&worker, 1);
        wait_for_call();
        sem_post(&goes_on);
    }
    sem_post(&goes_on); /* for a call that comes before the end */
    pp_worker_end(&worker);
}

static void a_quicker_pace_that_comes_during_the_call_is_in_force_after_it(void **state)
{
    (void)state;
    worker.work = work;
    assert_int_equal(sem_init(&has_worked, 0, 0), 0);
    assert_int_equal(sem_init(&goes_on, 0, 0), 0);
    assert_int_equal(pp_worker_begin_at_random(&worker, MEAN_NS), 0);
    wait_for_call();
    pp_worker_set_pace(&worker, A_DAY);
    pp_worker_set_pace(&worker, 1);
    sem_post(&goes_on);
    wait_for_call();
    pp_worker_set_pace(&worker, A_DAY);
    sem_post(&goes_on);
    while (__atomic_load_n(&worker.paced, __ATOMIC_ACQUIRE) != A_DAY) {
        sched_yield();
    }
    assert_int_equal(sem_trywait(&has_worked), -1); /* it rests */
    pp_worker_end(&worker);
}

static void it_says_when_its_thread_is_left(void **state)
{
    (void)state;
    worker = (pp_worker){.work = work, .leaves = leave};
    for (unsigned threads = 1; threads <= 2; threads++) {
        assert_int_equal(pp_worker_begin_rung(&worker), 0);
        pp_worker_ring(&worker);
        wait_for_call();
        assert_int_equal(left, threads - 1);
        sem_post(&goes_on);
        pp_worker_end(&worker);
        assert_int_equal(left, threads);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rest_is_over_when_the_pace_is_quicker),
        cmocka_unit_test(a_quicker_pace_that_comes_during_the_call_is_in_force_after_it),
        cmocka_unit_test(it_says_when_its_thread_is_left),
    };
    assert_int_equal(sem_init(&has_worked, 0, 0), 0);
    assert_int_equal(sem_init(&goes_on, 0, 0), 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
