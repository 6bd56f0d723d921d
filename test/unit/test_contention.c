/* SPDX-License-Identifier: MIT
 *
 * test_contention.c: who is charged for waits that are scripted: nobody goes on before the list
 * says that the others wait. No time is asserted, only sums that must be equal.
 */
#include "contention_script.h"
#include "sys/clock.h"

#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { WAITERS = 5 };

/* ---- mutexes ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

KNOWN(waits_for_mutex)
static void *waits_for_mutex(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

KNOWN(holds_mutex)
static void holds_mutex(unsigned waiters)
{
    pthread_t threads[WAITERS];
    pthread_mutex_lock(&mutex);
    start(threads, waiters, waits_for_mutex, NULL);
    until_waited_for(&mutex, waiters);
    pthread_mutex_unlock(&mutex);
    join(threads, waiters);
}

static void holders_delays_are_the_waiters_waits(void **state)
{
    (void)state;
    totals waits = blocked_in(&waits_for_mutex_code, (void *)pthread_mutex_lock);
    totals delays = held_up_by(NULL, NULL);
    totals first = held_up_by(&holds_mutex_code, (void *)pthread_mutex_unlock);
    holds_mutex(WAITERS);
    totals waits_now = blocked_in(&waits_for_mutex_code, (void *)pthread_mutex_lock);
    totals delays_now = held_up_by(NULL, NULL);
    totals first_now = held_up_by(&holds_mutex_code, (void *)pthread_mutex_unlock);
    assert_int_equal(delays_now.count - delays.count, WAITERS);
    assert_int_equal(waits_now.count - waits.count, WAITERS);
    assert_true(waits_now.amount > waits.amount);
    assert_int_equal(delays_now.amount - delays.amount, waits_now.amount - waits.amount);
    assert_in_range(first_now.count - first.count, 1, WAITERS); /* barging may let it count again */
    assert_true(first_now.amount > first.amount);
}

static void a_free_mutex_is_no_event(void **state)
{
    (void)state;
    totals waits = blocked_in(NULL, NULL);
    totals delays = held_up_by(NULL, NULL);
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    assert_int_equal(blocked_in(NULL, NULL).amount, waits.amount);
    assert_int_equal(held_up_by(NULL, NULL).amount, delays.amount);
}

static void nothing_is_recorded_while_off(void **state)
{
    (void)state;
    pprof_set_block_profile_rate(0);
    pprof_set_mutex_profile_fraction(0);
    totals waits = blocked_in(NULL, NULL);
    totals delays = held_up_by(NULL, NULL);
    pthread_t thread;
    pthread_mutex_lock(&mutex);
    start(&thread, 1, waits_for_mutex, NULL);
    pthread_mutex_unlock(&mutex);
    join(&thread, 1);
    assert_int_equal(blocked_in(NULL, NULL).amount, waits.amount);
    assert_int_equal(held_up_by(NULL, NULL).amount, delays.amount);
}

static void a_mutex_profile_needs_no_block_profile(void **state)
{
    (void)state;
    pprof_set_block_profile_rate(0);
    totals waits = blocked_in(NULL, NULL);
    totals delays = held_up_by(&holds_mutex_code, NULL);
    holds_mutex(2);
    assert_int_equal(blocked_in(NULL, NULL).amount, waits.amount);
    assert_true(held_up_by(&holds_mutex_code, NULL).amount > delays.amount);
}

static void one_release_in_fraction_is_scaled_up(void **state)
{
    (void)state;
    enum { FRACTION = 4, RELEASES = 400 };
    pprof_set_mutex_profile_fraction(FRACTION);
    totals before = held_up_by(&holds_mutex_code, NULL);
    for (int i = 0; i < RELEASES; i++)
        holds_mutex(1);
    uint64_t counted = held_up_by(&holds_mutex_code, NULL).count - before.count;
    assert_int_equal(counted % FRACTION, 0);
    /* Binomial: 100 of 400, deviation 8.7; times 4. Six deviations. */
    assert_in_range(counted, RELEASES - 208, RELEASES + 208);
}

/* ---- kinds ---- */

static pthread_mutex_t made(int type, int robust)
{
    pthread_mutexattr_t attributes;
    pthread_mutex_t m;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutexattr_setrobust(&attributes, robust);
    pthread_mutex_init(&m, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return m;
}

static void an_owner_does_not_wait_for_itself(void **state)
{
    (void)state;
    NOT_UNDER_TSAN();
    totals waits = blocked_in(NULL, NULL);
    pthread_mutex_t recursive = made(PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED);
    pthread_mutex_t checking = made(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED);
    assert_int_equal(pthread_mutex_lock(&recursive), 0);
    assert_int_equal(pthread_mutex_lock(&recursive), 0);
    assert_int_equal(pthread_mutex_unlock(&recursive), 0);
    assert_int_equal(pthread_mutex_unlock(&recursive), 0);
    assert_int_equal(pthread_mutex_unlock(&recursive), EPERM);
    assert_int_equal(pthread_mutex_lock(&checking), 0);
    assert_int_equal(pthread_mutex_lock(&checking), EDEADLK);
    assert_int_equal(pthread_mutex_unlock(&checking), 0);
    assert_int_equal(pthread_mutex_unlock(&checking), EPERM);
    assert_int_equal(blocked_in(NULL, NULL).amount, waits.amount);
}

static pthread_mutex_t robust;

static void *dies_with_it(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&robust);
    return NULL;
}

static void a_robust_mutex_says_that_its_owner_died(void **state)
{
    (void)state;
    need_kernel();
    pthread_t thread;
    robust = made(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST);
    start(&thread, 1, dies_with_it, NULL);
    join(&thread, 1);
    assert_int_equal(pthread_mutex_lock(&robust), EOWNERDEAD);
    assert_int_equal(pthread_mutex_consistent(&robust), 0);
    assert_int_equal(pthread_mutex_unlock(&robust), 0);
    assert_int_equal(pthread_mutex_lock(&robust), 0);
    assert_int_equal(pthread_mutex_unlock(&robust), 0);
}

static void *gives_up(void *unused)
{
    (void)unused;
    struct timespec past = {.tv_sec = 1};
    return (void *)(intptr_t)pthread_mutex_timedlock(&mutex, &past);
}

static void a_lock_that_times_out_was_a_wait(void **state)
{
    (void)state;
    pthread_t thread;
    void *result = NULL;
    totals waits = blocked_in(NULL, (void *)pthread_mutex_timedlock);
    totals delays = held_up_by(NULL, NULL);
    pthread_mutex_lock(&mutex);
    start(&thread, 1, gives_up, NULL);
    pthread_join(thread, &result);
    pthread_mutex_unlock(&mutex);
    totals waits_now = blocked_in(NULL, (void *)pthread_mutex_timedlock);
    totals delays_now = held_up_by(NULL, NULL);
    assert_int_equal((intptr_t)result, ETIMEDOUT);
    assert_int_equal(waits_now.count - waits.count, 1);
    /* Somebody made it wait, and nobody let it through. */
    assert_int_equal(delays_now.amount - delays.amount, waits_now.amount - waits.amount);
    assert_int_equal(delays_now.count, delays.count);
    assert_int_equal(listed_for(&mutex), 0);
}

/* ---- others ---- */

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void *writes(void *unused)
{
    (void)unused;
    pthread_rwlock_wrlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    return NULL;
}

static void *reads(void *unused)
{
    (void)unused;
    pthread_rwlock_rdlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    return NULL;
}

static void readers_and_writers_are_charged_to_each_other(void **state)
{
    (void)state;
    pthread_t threads[WAITERS];
    totals readers = blocked_in(NULL, (void *)pthread_rwlock_rdlock);
    totals writers = blocked_in(NULL, (void *)pthread_rwlock_wrlock);
    totals delays = held_up_by(NULL, NULL);
    pthread_rwlock_wrlock(&rwlock);
    start(threads, WAITERS, reads, NULL);
    until_listed(&rwlock, WAITERS);
    pthread_rwlock_unlock(&rwlock);
    join(threads, WAITERS);
    pthread_rwlock_rdlock(&rwlock);
    start(threads, 1, writes, NULL);
    until_listed(&rwlock, 1);
    pthread_rwlock_unlock(&rwlock);
    join(threads, 1);
    totals readers_now = blocked_in(NULL, (void *)pthread_rwlock_rdlock);
    totals writers_now = blocked_in(NULL, (void *)pthread_rwlock_wrlock);
    assert_int_equal(readers_now.count - readers.count, WAITERS);
    assert_int_equal(writers_now.count - writers.count, 1);
    assert_int_equal(held_up_by(NULL, NULL).count - delays.count, WAITERS + 1);
    assert_int_equal(held_up_by(NULL, NULL).amount - delays.amount,
                     readers_now.amount - readers.amount + writers_now.amount - writers.amount);
}

static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static bool go;

static void *waits_for_condition(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&mutex);
    while (!go)
        pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void a_wait_for_a_condition_is_one_event(void **state)
{
    (void)state;
    pthread_t thread;
    totals waits = blocked_in(NULL, (void *)pthread_cond_wait);
    go = false;
    start(&thread, 1, waits_for_condition, NULL);
    until_listed(&condition, 1);
    pthread_mutex_lock(&mutex);
    go = true;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    join(&thread, 1);
    assert_int_equal(blocked_in(NULL, (void *)pthread_cond_wait).count - waits.count, 1);
}

static sem_t semaphore;

KNOWN(waits_for_semaphore)
static void *waits_for_semaphore(void *unused)
{
    (void)unused;
    sem_wait(&semaphore);
    return NULL;
}

static unsigned still_waiting;

static void see_waiting(const uintptr_t *pcs, uint32_t depth, const pprof_labels *labels,
                        uint64_t since_ns, void *function)
{
    (void)labels, (void)since_ns;
    for (uint32_t i = 0; i < depth; i++)
        still_waiting += is_within(pcs[i], function);
}

static unsigned waiting_in(const known *function)
{
    still_waiting = 0;
    pp_contention_each_waiting(see_waiting, (void *)function);
    return still_waiting;
}

KNOWN(waits_for_ever)
static void *waits_for_ever(void *unused)
{
    waits_for_semaphore(unused);
    __asm__ volatile("" ::: "memory"); /* not a tail call */
    return NULL;
}

/* It is released in there; to have it back is a part of the wait for the condition, and no lock's
 * contention. */
KNOWN(releases_by_waiting)
static void releases_by_waiting(void)
{
    pthread_t waiter;
    struct timespec past = {.tv_sec = 1};
    pthread_mutex_lock(&mutex);
    start(&waiter, 1, waits_for_mutex, NULL);
    until_waited_for(&mutex, 1);
    assert_int_equal(pthread_cond_timedwait(&condition, &mutex, &past), ETIMEDOUT);
    pthread_mutex_unlock(&mutex);
    join(&waiter, 1);
}

static void who_waits_for_a_condition_lets_others_through(void **state)
{
    (void)state;
    totals waits = blocked_in(&waits_for_mutex_code, (void *)pthread_mutex_lock);
    totals delays = held_up_by(NULL, NULL);
    totals ours = held_up_by(&releases_by_waiting_code, NULL);
    releases_by_waiting();
    totals waits_now = blocked_in(&waits_for_mutex_code, (void *)pthread_mutex_lock);
    totals delays_now = held_up_by(NULL, NULL);
    assert_int_equal(waits_now.count - waits.count, 1);
    assert_int_equal(delays_now.count - delays.count, 1);
    assert_int_equal(delays_now.amount - delays.amount, waits_now.amount - waits.amount);
    assert_true(held_up_by(&releases_by_waiting_code, NULL).amount > ours.amount);
}

static void a_wait_that_goes_on_is_seen_and_a_cancelled_one_is_not(void **state)
{
    (void)state;
    NOT_UNDER_TSAN();
    pthread_t thread;
    void *result = NULL;
    sem_init(&semaphore, 0, 0);
    totals waits = blocked_in(NULL, (void *)sem_wait);
    start(&thread, 1, waits_for_ever, NULL);
    until_listed(&semaphore, 1);
    while (waiting_in(&waits_for_ever_code) == 0) /* listed first, then shown */
        sched_yield();
    assert_int_equal(waiting_in(&waits_for_ever_code), 1);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    assert_ptr_equal(result, PTHREAD_CANCELED);
    assert_int_equal(waiting_in(&waits_for_ever_code), 0);
    assert_int_equal(listed_for(&semaphore), 0);
#ifdef PP_MUSL /* unwinds no thread that it cancels */
    const int counted = 0;
#else
    const int counted = 1;
#endif
    assert_int_equal(blocked_in(NULL, (void *)sem_wait).count - waits.count, counted);
}

static sigjmp_buf out_of_here;
/* Not a semaphore: musl's sem_wait leaves an entry in the thread's list of cleanups, on the stack that the jump gives up. */
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER;

static void jump_out(int signal)
{
    (void)signal;
    siglongjmp(out_of_here, 1);
}

KNOWN(jumps_out_of_a_wait)
static void *jumps_out_of_a_wait(void *unused)
{
    (void)unused;
    if (sigsetjmp(out_of_here, 1) == 0)
        pthread_mutex_lock(&left);
    pthread_mutex_lock(&left); /* and waits again */
    pthread_mutex_unlock(&left);
    return NULL;
}

static void a_wait_that_was_jumped_out_of_is_forgotten(void **state)
{
    (void)state;
    NOT_UNDER_TSAN();
    pthread_t thread;
    pthread_mutex_lock(&left);
    signal(SIGUSR1, jump_out);
    start(&thread, 1, jumps_out_of_a_wait, NULL);
    until_listed(&left, 1);
    /* It has to be in the system call: the jump is out of a wait, not out of the list. */
    while (waiting_in(&jumps_out_of_a_wait_code) == 0)
        sched_yield();
    pthread_kill(thread, SIGUSR1);
    /* The second wait takes the first off the list. */
    pthread_mutex_unlock(&left);
    join(&thread, 1);
    assert_int_equal(listed_for(&left), 0);
    signal(SIGUSR1, SIG_DFL);
}

static mtx_t c11_mutex;

static int locks_c11(void *unused)
{
    (void)unused;
    mtx_lock(&c11_mutex);
    mtx_unlock(&c11_mutex);
    return 0;
}

static void c11_locks_count_too(void **state)
{
    (void)state;
    NOT_UNDER_TSAN();
    thrd_t thread;
    totals waits = blocked_in(NULL, (void *)mtx_lock);
    totals delays = held_up_by(NULL, (void *)mtx_unlock);
    mtx_init(&c11_mutex, mtx_plain);
    mtx_lock(&c11_mutex);
    assert_int_equal(thrd_create(&thread, locks_c11, NULL), thrd_success);
    until_waited_for(&c11_mutex, 1);
    mtx_unlock(&c11_mutex);
    thrd_join(thread, NULL);
    assert_int_equal(blocked_in(NULL, (void *)mtx_lock).count - waits.count, 1);
    assert_int_equal(held_up_by(NULL, (void *)mtx_unlock).count - delays.count, 1);
}

/* ---- children ---- */

static void a_child_of_fork_starts_with_empty_lists(void **state)
{
    (void)state;
    pthread_t threads[2];
    sem_init(&semaphore, 0, 0);
    start(threads, 2, waits_for_semaphore, NULL);
    until_listed(&semaphore, 2);
    pid_t child = fork();
    if (child == 0) {
        bool empty = listed_for(&semaphore) == 0 && waiting_in(&waits_for_semaphore_code) == 0;
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        _exit(empty ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    sem_post(&semaphore);
    sem_post(&semaphore);
    join(threads, 2);
    assert_int_equal(status, 0);
}

static void wait_for_a_second(void)
{
    const pp_suspension somewhere = {.caller = {.return_address = (uintptr_t)wait_for_a_second}};
    pp_contention_record_suspended(&somewhere, PP_NS_PER_S);
}

/* The parent's profile has these waits: who adds the two up would count them twice. */
static void a_child_of_fork_has_not_waited(void **state)
{
    (void)state;
    size_t in_parent = 0;
    size_t in_child = 1;
    wait_for_a_second();
    pprof_block_profile(NULL, 0, &in_parent);
    assert_true(in_parent > 0);
    pid_t child = fork();
    if (child == 0) {
        bool none = pprof_block_profile(NULL, 0, &in_child) && in_child == 0;
        wait_for_a_second();
        pprof_block_profile(NULL, 0, &in_child);
        _exit(none && in_child == 1 ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(holders_delays_are_the_waiters_waits, count_everything),
        cmocka_unit_test_setup(a_free_mutex_is_no_event, count_everything),
        cmocka_unit_test_setup(nothing_is_recorded_while_off, count_everything),
        cmocka_unit_test_setup(a_mutex_profile_needs_no_block_profile, count_everything),
        cmocka_unit_test_setup(one_release_in_fraction_is_scaled_up, count_everything),
        cmocka_unit_test_setup(an_owner_does_not_wait_for_itself, count_everything),
        cmocka_unit_test_setup(a_robust_mutex_says_that_its_owner_died, count_everything),
        cmocka_unit_test_setup(a_lock_that_times_out_was_a_wait, count_everything),
        cmocka_unit_test_setup(readers_and_writers_are_charged_to_each_other, count_everything),
        cmocka_unit_test_setup(a_wait_for_a_condition_is_one_event, count_everything),
        cmocka_unit_test_setup(who_waits_for_a_condition_lets_others_through, count_everything),
        cmocka_unit_test_setup(a_wait_that_goes_on_is_seen_and_a_cancelled_one_is_not,
                               count_everything),
        cmocka_unit_test_setup(a_wait_that_was_jumped_out_of_is_forgotten, count_everything),
        cmocka_unit_test_setup(c11_locks_count_too, count_everything),
        cmocka_unit_test_setup(a_child_of_fork_starts_with_empty_lists, count_everything),
        cmocka_unit_test_setup(a_child_of_fork_has_not_waited, count_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
