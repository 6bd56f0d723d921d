/* SPDX-License-Identifier: MIT
 *
 * test_attach.c: an attachment that is wanted while the last one ends begins, whatever becomes of the holders of that one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attach/attach.h"

#include "pprof_attach.h"

#include <sched.h>
#include <semaphore.h>

static sem_t has_begun, is_ending, may_end;

static void prepare(void)
{
}

static int begin(pp_text *why)
{
    (void)why;
    return sem_post(&has_begun);
}

static void look(void)
{
}

static void end(void)
{
    sem_post(&is_ending);
    sem_wait(&may_end);
}

static const pp_attach_work work = {prepare, begin, look, end};

static void wait_for(enum pprof_attach_phase phase)
{
    while (__atomic_load_n(&pprof_attach_state.state, __ATOMIC_ACQUIRE) != (uint32_t)phase) {
        sched_yield();
    }
}

/* The attachment is ready, and has one holder. */
static void begin_held(void)
{
    assert_int_equal(pp_attach_begin(), 0);
    sem_wait(&has_begun);
    wait_for(PPROF_ATTACH_READY);
    pp_attach_hold();
    pp_attach_expect_end();
}

static void it_ends_with_its_last_holder(void **state)
{
    (void)state;
    begin_held();
    pp_attach_hold();
    pp_attach_release();
    assert_int_not_equal(sem_trywait(&is_ending), 0);
    pp_attach_release();
    sem_wait(&is_ending);
    sem_post(&may_end);
    wait_for(PPROF_ATTACH_DETACHED);
}

static void the_next_one_does_not_end_with_a_holder_of_the_last_one(void **state)
{
    (void)state;
    begin_held();
    pp_attach_end();
    sem_wait(&is_ending);
    assert_int_equal(pp_attach_begin(), 0);
    pp_attach_release();
    sem_post(&may_end);
    while (sem_trywait(&has_begun) != 0) {
        assert_int_not_equal(pprof_attach_state.state, PPROF_ATTACH_DETACHED);
        sched_yield();
    }
    wait_for(PPROF_ATTACH_READY);
    pp_attach_end();
    sem_wait(&is_ending);
    sem_post(&may_end);
    wait_for(PPROF_ATTACH_DETACHED);
}

static int set_up(void **state)
{
    (void)state;
    pp_attach_init(&work);
    return sem_init(&has_begun, 0, 0) | sem_init(&is_ending, 0, 0) | sem_init(&may_end, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_ends_with_its_last_holder),
        cmocka_unit_test(the_next_one_does_not_end_with_a_holder_of_the_last_one),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
