/* SPDX-License-Identifier: MIT
 *
 * test_pausable.c: a thread of the library ends for the time of a pause, knows afterwards what it knew before, and is left
 * alone if it does not come to an end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/pausable.h"
#include "sys/apart.h"
#include "sys/doorbell.h"
#include "sys/signal_mask.h"
#include "sys/tasks.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct counter {
    pp_doorbell bell;
    bool stops;
    bool is_deaf; /* it does not look whether it has to pause */
    int tid;
    unsigned runs;
    bool has_table; /* of descriptors, a table of its own */
} counter;

static bool count(void *of_counter)
{
    counter *c = of_counter;
    __atomic_store_n(&c->tid, pp_task_self(), __ATOMIC_RELEASE);
    __atomic_store_n(&c->has_table, pp_apart_has_table(), __ATOMIC_RELEASE);
    __atomic_add_fetch(&c->runs, 1, __ATOMIC_RELEASE);
    for (;;) {
        uint32_t heard = pp_doorbell_heard(&c->bell);
        if (__atomic_load_n(&c->stops, __ATOMIC_ACQUIRE)) {
            return true;
        }
        if (pp_pausables_pause() && !__atomic_load_n(&c->is_deaf, __ATOMIC_ACQUIRE)) {
            return false;
        }
        pp_doorbell_wait(&c->bell, heard, UINT64_MAX / 2);
    }
}

static void wake(void *of_counter)
{
    counter *c = of_counter;
    pp_doorbell_ring(&c->bell);
}

static int begin(counter *c)
{
    const pp_pausable what = {.name = "counter", .run = count, .wake = wake, .context = c};
    return pp_pausable_begin(&what);
}

static void end(counter *c)
{
    __atomic_store_n(&c->stops, true, __ATOMIC_RELEASE);
    pp_pausable_end(c);
}

static void wait_for_runs(counter *c, unsigned runs)
{
    while (__atomic_load_n(&c->runs, __ATOMIC_ACQUIRE) < runs) {
        sched_yield();
    }
}

static bool is_there(int tid)
{
    return syscall(SYS_tgkill, getpid(), tid, 0) == 0;
}

static void a_thread_is_gone_for_the_time_of_a_pause(void **state)
{
    static counter c;
    (void)state;
    assert_int_equal(begin(&c), 0);
    assert_int_equal(begin(&c), -EBUSY);
    wait_for_runs(&c, 1);
    int first = c.tid;
    pp_pausables_stop();
    assert_false(is_there(first));
    assert_int_equal(c.runs, 1);
    pp_pausables_go_on();
    wait_for_runs(&c, 2);
    assert_true(is_there(c.tid));
    assert_int_equal(pp_pausables_count(), 1);
    end(&c);
    assert_false(is_there(c.tid));
    assert_int_equal(pp_pausables_count(), 0);
}

static void pauses_may_be_nested(void **state)
{
    static counter c;
    (void)state;
    assert_int_equal(begin(&c), 0);
    wait_for_runs(&c, 1);
    pp_pausables_stop();
    pp_pausables_stop();
    pp_pausables_go_on();
    assert_int_equal(c.runs, 1);
    assert_true(pp_pausables_pause());
    pp_pausables_go_on();
    wait_for_runs(&c, 2);
    end(&c);
}

static void what_begins_or_ends_in_a_pause_does_so(void **state)
{
    static counter begun;
    static counter ended;
    (void)state;
    assert_int_equal(begin(&ended), 0);
    pp_pausables_stop();
    end(&ended);
    assert_int_equal(begin(&begun), 0);
    assert_int_equal(begun.runs, 0);
    pp_pausables_go_on();
    wait_for_runs(&begun, 1);
    assert_int_equal(pp_pausables_count(), 1);
    end(&begun);
}

static counter shared; /* by tests that come one after the other: there is no place for many */
static unsigned lost;

static void begin_shared(void (*when_lost)(void *))
{
    const pp_pausable what = {.run = count, .wake = wake, .lost = when_lost, .context = &shared};
    unsigned runs = shared.runs;
    __atomic_store_n(&shared.stops, false, __ATOMIC_RELEASE);
    assert_int_equal(pp_pausable_begin(&what), 0);
    wait_for_runs(&shared, runs + 1);
}

static void lose(void *of_counter)
{
    assert_false(is_there(((counter *)of_counter)->tid));
    lost++;
}

static void what_ends_in_a_pause_is_lost_once(void **state)
{
    (void)state;
    begin_shared(lose);
    pp_pausables_stop();
    end(&shared);
    assert_int_equal(lost, 1);
    pp_pausables_go_on();
    end(&shared);
    begin_shared(lose);
    end(&shared);
    assert_int_equal(lost, 1);
}

static void a_thread_that_does_not_stop_goes_on(void **state)
{
    static counter c = {.is_deaf = true};
    (void)state;
    assert_int_equal(begin(&c), 0);
    wait_for_runs(&c, 1);
    pp_pausables_stop();
    assert_true(is_there(c.tid));
    /* It notices when the pause is nearly over. */
    __atomic_store_n(&c.is_deaf, false, __ATOMIC_RELEASE);
    pp_pausables_go_on();
    wake(&c);
    end(&c);
    assert_false(is_there(c.tid));
}

static void *stop_and_go_on(void *unused)
{
    for (int i = 0; i < 100; i++) {
        pp_signal_mask old = 0;
        pp_signals_block(&old);
        pp_pausables_stop();
        pp_pausables_go_on();
        pp_signals_restore(&old);
    }
    return unused;
}

static void several_threads_may_pause_at_once(void **state)
{
    enum { THREADS = 4 };
    static counter counters[2];
    pthread_t threads[THREADS];
    (void)state;
    assert_int_equal(begin(&counters[0]), 0);
    assert_int_equal(begin(&counters[1]), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, stop_and_go_on, NULL), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_false(pp_pausables_pause());
    assert_int_equal(pp_pausables_count(), 2);
    end(&counters[0]);
    end(&counters[1]);
}

static bool is_ready, ends;

static void *end_shared(void *unused)
{
    __atomic_store_n(&is_ready, true, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&ends, __ATOMIC_ACQUIRE)) {
    }
    end(&shared);
    return unused;
}

/* The thread begins again after the other one has seen that it is paused, in one round or another. */
static void a_thread_may_end_while_its_pause_does(void **state)
{
    enum { ROUNDS = 200, STEP = 25 };
    (void)state;
    for (unsigned i = 0; i < ROUNDS; i++) {
        pthread_t thread;
        begin_shared(NULL);
        pp_pausables_stop();
        is_ready = ends = false;
        assert_int_equal(pthread_create(&thread, NULL, end_shared, NULL), 0);
        while (!__atomic_load_n(&is_ready, __ATOMIC_ACQUIRE)) {
            sched_yield();
        }
        __atomic_store_n(&ends, true, __ATOMIC_RELEASE);
        for (volatile unsigned n = 0; n < i * STEP; n++) {
        }
        pp_pausables_go_on();
        pthread_join(thread, NULL);
        assert_int_equal(pp_pausables_count(), 0);
    }
}

static void *rest(void *of_over)
{
    sem_wait(of_over);
    return NULL;
}

static void *rest_and_end_shared(void *of_over)
{
    sem_wait(of_over);
    end(&shared);
    return NULL;
}

/* Creates a thread with this id, which is free. False: another process has taken it, or this one may not choose. */
static bool create_with_id(int tid, pthread_t *thread, void *(*run)(void *), sem_t *over)
{
    enum { ATTEMPTS = 200 };
    bool has_id = false;
    FILE *last = fopen("/proc/sys/kernel/ns_last_pid", "we");
    for (unsigned i = 0; last != NULL && i < ATTEMPTS && !has_id; i++) {
        if (fprintf(last, "%d", tid - 1) < 0 || fflush(last) != 0) {
            break;
        }
        assert_int_equal(pthread_create(thread, NULL, run, over), 0);
        has_id = is_there(tid);
        if (!has_id) {
            sem_post(over);
            pthread_join(*thread, NULL);
        }
        rewind(last);
    }
    if (last != NULL) {
        fclose(last);
    }
    return has_id;
}

/* A thread whose work is over is forgotten much later; the kernel gives its id away meanwhile. */
static void the_end_waits_for_no_thread_that_has_the_same_id(void **state)
{
    static sem_t over;
    pthread_t other;
    (void)state;
    assert_int_equal(sem_init(&over, 0, 0), 0);
    begin_shared(NULL);
    __atomic_store_n(&shared.stops, true, __ATOMIC_RELEASE);
    wake(&shared);
    while (is_there(shared.tid)) {
        sched_yield();
    }
    if (!create_with_id(shared.tid, &other, rest, &over)) {
        skip();
    }
    end(&shared);
    assert_true(is_there(shared.tid));
    sem_post(&over);
    pthread_join(other, NULL);
}

/* A thread that is paused is gone, and the one that ends it may have got its id. */
static void a_thread_ends_one_whose_id_it_has_got(void **state)
{
    static sem_t over;
    pthread_t other;
    (void)state;
    assert_int_equal(sem_init(&over, 0, 0), 0);
    begin_shared(NULL);
    pp_pausables_stop();
    bool has_id = create_with_id(shared.tid, &other, rest_and_end_shared, &over);
    if (has_id) {
        sem_post(&over);
        pthread_join(other, NULL);
    }
    unsigned left = pp_pausables_count();
    end(&shared);
    pp_pausables_go_on();
    if (!has_id) {
        skip();
    }
    assert_int_equal(left, 0);
}

static void threads_come_back_to_the_table_of_the_program(void **state)
{
    static counter c;
    (void)state;
    pp_apart_permit(true);
    if (!pp_apart_try()) {
        skip();
    }
    assert_int_equal(begin(&c), 0);
    wait_for_runs(&c, 1);
    assert_true(c.has_table);
    assert_false(pp_apart_stay_all());
    assert_true(pp_pausables_keep_table());
    wait_for_runs(&c, 2);
    assert_false(c.has_table);
    assert_true(pp_pausables_keep_table());
    assert_int_equal(c.runs, 2);
    end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_is_gone_for_the_time_of_a_pause),
        cmocka_unit_test(pauses_may_be_nested),
        cmocka_unit_test(what_begins_or_ends_in_a_pause_does_so),
        cmocka_unit_test(what_ends_in_a_pause_is_lost_once),
        cmocka_unit_test(a_thread_that_does_not_stop_goes_on),
        cmocka_unit_test(several_threads_may_pause_at_once),
        cmocka_unit_test(a_thread_may_end_while_its_pause_does),
        cmocka_unit_test(the_end_waits_for_no_thread_that_has_the_same_id),
        cmocka_unit_test(a_thread_ends_one_whose_id_it_has_got),
        cmocka_unit_test(threads_come_back_to_the_table_of_the_program), /* last: for good */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
