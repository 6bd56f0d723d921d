/* SPDX-License-Identifier: MIT
 *
 * test_contention_kinds.c: every kind of lock, and everything else that waits: the real functions'
 * results, one event for each wait, each wait charged once.
 *
 * Libc: glibc
 */
#include "contention_script.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096 };

static const struct timespec past = {.tv_sec = 1};
static const struct timespec no_time = {.tv_nsec = -1};

/* ---- kinds of mutexes ---- */

static pthread_mutex_t mutex;

static void make(int type, int robust, int protocol, int shared)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutexattr_setrobust(&attributes, robust);
    pthread_mutexattr_setpshared(&attributes, shared);
    assert_int_equal(pthread_mutexattr_setprotocol(&attributes, protocol), 0);
    assert_int_equal(pthread_mutex_init(&mutex, &attributes), 0);
    pthread_mutexattr_destroy(&attributes);
}

static void *waits(void *unused)
{
    (void)unused;
    assert_int_equal(pthread_mutex_lock(&mutex), 0);
    assert_int_equal(pthread_mutex_unlock(&mutex), 0);
    return NULL;
}

KNOWN(holds)
static void holds(void)
{
    pthread_t thread;
    assert_int_equal(pthread_mutex_lock(&mutex), 0);
    start(&thread, 1, waits, NULL);
    until_listed(&mutex, 1);
    assert_int_equal(pthread_mutex_unlock(&mutex), 0);
    join(&thread, 1);
}

static void every_kind_of_mutex_charges_its_holder(void **state)
{
    (void)state;
    static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
                                PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ADAPTIVE_NP};
    for (unsigned i = 0; i < 4 * 8; i++) {
        make(types[i / 8], i & 1 ? PTHREAD_MUTEX_ROBUST : PTHREAD_MUTEX_STALLED,
             i & 2 ? PTHREAD_PRIO_INHERIT : PTHREAD_PRIO_NONE,
             i & 4 ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE);
        totals lock_waits = blocked_in(NULL, (void *)pthread_mutex_lock);
        totals delays = held_up_by(NULL, NULL);
        totals ours = held_up_by(&holds_code, (void *)pthread_mutex_unlock);
        holds();
        totals lock_waits_now = blocked_in(NULL, (void *)pthread_mutex_lock);
        assert_int_equal(lock_waits_now.count - lock_waits.count, 1);
        assert_int_equal(held_up_by(NULL, NULL).amount - delays.amount,
                         lock_waits_now.amount - lock_waits.amount);
        assert_true(held_up_by(&holds_code, (void *)pthread_mutex_unlock).count - ours.count <= 1);
        assert_int_equal(pthread_mutex_destroy(&mutex), 0);
    }
}

static void *dies_with_it(void *unused)
{
    (void)unused;
    assert_int_equal(pthread_mutex_lock(&mutex), 0);
    return NULL;
}

static void *what_lock_says(void *unused)
{
    (void)unused;
    return (void *)(intptr_t)pthread_mutex_lock(&mutex);
}

static void *what_timedlock_says(void *unused)
{
    (void)unused;
    return (void *)(intptr_t)pthread_mutex_timedlock(&mutex, &past);
}

/* Whoever asks, and as often as it is asked. The timed ones come first: what waits for ever would
 * hang the test. */
static void a_mutex_that_is_not_recoverable_says_so_to_everybody(void **state)
{
    (void)state;
    need_kernel();
    for (int protocol = PTHREAD_PRIO_NONE; protocol <= PTHREAD_PRIO_INHERIT; protocol++) {
        make(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, protocol, PTHREAD_PROCESS_PRIVATE);
        pthread_t thread;
        void *result = NULL;
        pthread_create(&thread, NULL, dies_with_it, NULL);
        pthread_join(thread, NULL);
        totals waits = blocked_in(NULL, (void *)pthread_mutex_lock);
        assert_int_equal(pthread_mutex_lock(&mutex), EOWNERDEAD);
        assert_int_equal(pthread_mutex_unlock(&mutex), 0); /* not made consistent */
        for (int i = 0; i < 4; i++) {
            pthread_create(&thread, NULL, i < 2 ? what_timedlock_says : what_lock_says, NULL);
            pthread_join(thread, &result);
            assert_int_equal((intptr_t)result, ENOTRECOVERABLE);
        }
        assert_int_equal(blocked_in(NULL, (void *)pthread_mutex_lock).count, waits.count);
        assert_int_equal(pthread_mutex_destroy(&mutex), 0);
    }
}

typedef int mutex_function(pthread_mutex_t *);

typedef struct functions {
    mutex_function *lock, *unlock;
} functions;

static void *result_of_lock(void *context)
{
    const functions *f = context;
    int result = f->lock(&mutex);
    if (result == 0)
        assert_int_equal(f->unlock(&mutex), 0);
    return (void *)(intptr_t)result;
}

/* It wants a real-time priority, which the test may not be allowed: then the answer is an error.
 * Each in a thread of its own: libc keeps accounts, and has another answer for the second time. */
static void a_priority_protecting_mutex_says_what_it_says_without(void **state)
{
    (void)state;
    pthread_t threads[2];
    void *results[2];
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    functions list[] = {{pthread_mutex_lock, pthread_mutex_unlock},
                        {(mutex_function *)dlsym(libc, "pthread_mutex_lock"),
                         (mutex_function *)dlsym(libc, "pthread_mutex_unlock")}};
    for (int i = 0; i < 2; i++) {
        make(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_PROTECT,
             PTHREAD_PROCESS_PRIVATE);
        start(&threads[i], 1, result_of_lock, &list[i]);
        pthread_join(threads[i], &results[i]);
    }
    assert_ptr_equal(results[0], results[1]);
    dlclose(libc);
}

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;

KNOWN(holds_outer)
static void *holds_outer(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&outer);
    pthread_mutex_lock(&inner);
    pthread_mutex_unlock(&inner);
    pthread_mutex_unlock(&outer);
    return NULL;
}

KNOWN(wants_outer)
static void *wants_outer(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&outer);
    pthread_mutex_unlock(&outer);
    return NULL;
}

KNOWN(holds_inner)
static void holds_inner(void)
{
    pthread_t threads[2];
    pthread_mutex_lock(&inner);
    start(&threads[0], 1, holds_outer, NULL);
    until_waited_for(&inner, 1);
    start(&threads[1], 1, wants_outer, NULL);
    until_waited_for(&outer, 1);
    pthread_mutex_unlock(&inner);
    join(threads, 2);
}

typedef int clockwait_function(sem_t *, clockid_t, const struct timespec *);

typedef struct cancelled_wait {
    sem_t semaphore;
    clockwait_function *wait;
} cancelled_wait;

static void *waits_with_a_cancellation_pending(void *context)
{
    cancelled_wait *w = context;
    struct timespec until = {.tv_sec = time(NULL) + 60};
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_cancel(pthread_self());
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    w->wait(&w->semaphore, CLOCK_REALTIME, &until);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    return NULL;
}

/* libc's sem_clockwait looks at the cancellation only if it waits. */
static void a_semaphore_that_is_free_is_a_cancellation_point_where_it_is_without(void **state)
{
    (void)state;
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    clockwait_function *both[] = {sem_clockwait,
                                  (clockwait_function *)dlsym(libc, "sem_clockwait")};
    void *results[2];
    for (int i = 0; i < 2; i++) {
        cancelled_wait wait = {.wait = both[i]};
        pthread_t thread;
        assert_int_equal(sem_init(&wait.semaphore, 0, 1), 0);
        pthread_create(&thread, NULL, waits_with_a_cancellation_pending, &wait);
        pthread_join(thread, &results[i]);
    }
    assert_ptr_equal(results[0], results[1]);
    dlclose(libc);
}

static void nested_locks_are_charged_each_to_its_holder(void **state)
{
    (void)state;
    totals delays = held_up_by(NULL, NULL);
    totals inner_waits = blocked_in(&holds_outer_code, NULL);
    totals outer_waits = blocked_in(&wants_outer_code, NULL);
    totals by_inner = held_up_by(&holds_inner_code, NULL);
    totals by_outer = held_up_by(&holds_outer_code, NULL);
    holds_inner();
    uint64_t inner_ns = blocked_in(&holds_outer_code, NULL).amount - inner_waits.amount;
    uint64_t outer_ns = blocked_in(&wants_outer_code, NULL).amount - outer_waits.amount;
    assert_true(inner_ns > 0 && outer_ns > 0);
    assert_int_equal(held_up_by(NULL, NULL).amount - delays.amount, inner_ns + outer_ns);
    assert_int_equal(held_up_by(&holds_inner_code, NULL).amount - by_inner.amount, inner_ns);
    assert_int_equal(held_up_by(&holds_outer_code, NULL).amount - by_outer.amount, outer_ns);
}

/* ---- results that a try would not give ---- */

static void wrong_arguments_are_refused_before_anything_is_taken(void **state)
{
    (void)state;
    pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
    sem_t semaphore;
    sem_init(&semaphore, 0, 1);
    make(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE, PTHREAD_PROCESS_PRIVATE);
    pp_contention.hot[pp_contention_hash((uintptr_t)&mutex)] = 100;
    pp_contention.hot[pp_contention_hash((uintptr_t)&rwlock)] = 100;
    assert_int_equal(pthread_mutex_clocklock(&mutex, CLOCK_PROCESS_CPUTIME_ID, &past), EINVAL);
    assert_int_equal(pthread_rwlock_clockrdlock(&rwlock, CLOCK_PROCESS_CPUTIME_ID, &past), EINVAL);
    assert_int_equal(pthread_rwlock_timedwrlock(&rwlock, &no_time), EINVAL);
    errno = 0;
    assert_int_equal(sem_timedwait(&semaphore, &no_time), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(sem_clockwait(&semaphore, CLOCK_PROCESS_CPUTIME_ID, &past), -1);
    /* All of them are still free. */
    assert_int_equal(pthread_mutex_trylock(&mutex), 0);
    assert_int_equal(pthread_mutex_unlock(&mutex), 0);
    assert_int_equal(pthread_rwlock_trywrlock(&rwlock), 0);
    assert_int_equal(sem_trywait(&semaphore), 0);
    /* And a writer does not wait for itself. */
    totals before = blocked_in(NULL, NULL);
    assert_int_equal(pthread_rwlock_rdlock(&rwlock), EDEADLK);
    assert_int_equal(pthread_rwlock_wrlock(&rwlock), EDEADLK);
    assert_int_equal(pthread_rwlock_unlock(&rwlock), 0);
    assert_int_equal(blocked_in(NULL, NULL).amount, before.amount);
}

/* ---- other things that wait ---- */

static pthread_spinlock_t spin;

static void *spins(void *unused)
{
    (void)unused;
    pthread_spin_lock(&spin);
    pthread_spin_unlock(&spin);
    return NULL;
}

static void who_holds_a_spin_lock_is_charged(void **state)
{
    (void)state;
    pthread_t thread;
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    totals spinning = blocked_in(NULL, (void *)pthread_spin_lock);
    totals delays = held_up_by(NULL, (void *)pthread_spin_unlock);
    pthread_spin_lock(&spin);
    start(&thread, 1, spins, NULL);
    until_listed((void *)&spin, 1);
    pthread_spin_unlock(&spin);
    join(&thread, 1);
    totals spinning_now = blocked_in(NULL, (void *)pthread_spin_lock);
    totals delays_now = held_up_by(NULL, (void *)pthread_spin_unlock);
    assert_int_equal(spinning_now.count - spinning.count, 1);
    assert_int_equal(delays_now.count - delays.count, 1);
    assert_int_equal(delays_now.amount - delays.amount, spinning_now.amount - spinning.amount);
}

static void what_is_refused_is_no_wait(void **state)
{
    (void)state;
    NOT_UNDER_TSAN(); /* it reports the one, and aborts at the other */
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    totals joins = blocked_in(NULL, (void *)pthread_join);
    totals conditions = blocked_in(NULL, (void *)pthread_cond_wait);
    if (MAY_JOIN_ITSELF) {
        assert_int_equal(pthread_join(pthread_self(), NULL), EDEADLK);
    }
    make(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE,
         PTHREAD_PROCESS_PRIVATE);
    assert_int_equal(pthread_cond_wait(&condition, &mutex), EPERM);
    assert_int_equal(pthread_mutex_destroy(&mutex), 0);
    assert_int_equal(blocked_in(NULL, (void *)pthread_join).count, joins.count);
    assert_int_equal(blocked_in(NULL, (void *)pthread_cond_wait).count, conditions.count);
}

static pthread_barrier_t barrier;

static void *arrives(void *unused)
{
    (void)unused;
    return (void *)(intptr_t)pthread_barrier_wait(&barrier);
}

static void the_last_one_at_a_barrier_does_not_wait(void **state)
{
    (void)state;
    enum { OTHERS = 3 };
    pthread_t threads[OTHERS];
    pthread_barrier_init(&barrier, NULL, OTHERS + 1);
    totals before = blocked_in(NULL, (void *)pthread_barrier_wait);
    start(threads, OTHERS, arrives, NULL);
    until_listed(&barrier, OTHERS);
    /* Those that are listed need not have arrived: the last one may be any of them. */
    void *results[OTHERS + 1] = {arrives(NULL)};
    unsigned last = 0;
    for (unsigned i = 0; i < OTHERS; i++)
        pthread_join(threads[i], &results[i + 1]);
    for (unsigned i = 0; i < OTHERS + 1; i++)
        last += (intptr_t)results[i] == PTHREAD_BARRIER_SERIAL_THREAD;
    assert_int_equal(last, 1);
    assert_int_equal(blocked_in(NULL, (void *)pthread_barrier_wait).count - before.count, OTHERS);
}

static sem_t semaphore;

static void *waits_for_semaphore(void *result)
{
    sem_wait(&semaphore);
    return result;
}

static void *joins(void *thread)
{
    void *result = NULL;
    assert_int_equal(pthread_join(*(pthread_t *)thread, &result), 0);
    return result;
}

static void a_join_is_an_event_if_the_thread_still_runs(void **state)
{
    (void)state;
    pthread_t threads[2];
    void *result = NULL;
    sem_init(&semaphore, 0, 0);
    start(&threads[0], 1, waits_for_semaphore, &semaphore);
    totals before = blocked_in(NULL, (void *)pthread_join);
    start(&threads[1], 1, joins, &threads[0]);
    until_listed((void *)threads[0], 1);
    sem_post(&semaphore);
    /* This one has ended by the time that it is joined. */
    while (pthread_tryjoin_np(threads[1], &result) == EBUSY)
        sched_yield();
    assert_ptr_equal(result, &semaphore);
    assert_int_equal(blocked_in(NULL, (void *)pthread_join).count - before.count, 1);
    sem_post(&semaphore);
    start(&threads[0], 1, waits_for_semaphore, NULL);
    int error = pthread_timedjoin_np(threads[0], NULL, &past);
    assert_true(error == ETIMEDOUT || error == 0);
    if (error == ETIMEDOUT)
        assert_int_equal(pthread_join(threads[0], NULL), 0);
}

static void a_semaphore_is_an_event_if_it_is_not_free(void **state)
{
    (void)state;
    sem_init(&semaphore, 0, 1);
    totals before = blocked_in(NULL, NULL);
    totals delays = held_up_by(NULL, NULL);
    errno = EXDEV;
    assert_int_equal(sem_wait(&semaphore), 0);
    assert_int_equal(errno, EXDEV);
    assert_int_equal(blocked_in(NULL, NULL).amount, before.amount);
    assert_int_equal(sem_timedwait(&semaphore, &past), -1);
    assert_int_equal(errno, ETIMEDOUT);
    assert_int_equal(blocked_in(NULL, (void *)sem_timedwait).count, 1);
    assert_int_equal(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &no_time), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(held_up_by(NULL, NULL).count, delays.count);
    assert_int_equal(held_up_by(NULL, NULL).amount, delays.amount);
}

/* ---- futex by way of syscall() ---- */

static uint32_t futex_word;

static long futex(int operation, uint32_t value, uint32_t bits)
{
    return syscall(SYS_futex, &futex_word, operation, value, NULL, NULL, bits);
}

KNOWN(waits_for_futex)
static void *waits_for_futex(void *unused)
{
    (void)unused;
    /* The seventh argument: 0 would be EINVAL. */
    while (futex(FUTEX_WAIT_BITSET_PRIVATE, 0, 4) != 0)
        assert_int_equal(errno, EINTR);
    return NULL;
}

static void a_wait_for_a_futex_is_an_event_where_it_was_made(void **state)
{
    (void)state;
    pthread_t thread;
    totals before = blocked_in(&waits_for_futex_code, (void *)syscall);
    start(&thread, 1, waits_for_futex, NULL);
    while (futex(FUTEX_WAKE_BITSET_PRIVATE, 1, 4) != 1)
        sched_yield();
    join(&thread, 1);
    assert_int_equal(blocked_in(&waits_for_futex_code, (void *)syscall).count - before.count, 1);
    /* What does not wait is none. */
    totals all = blocked_in(NULL, NULL);
    errno = 0;
    assert_int_equal(futex(FUTEX_WAIT_PRIVATE, 1, 0), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(futex(FUTEX_WAKE_PRIVATE, 1, 0), 0);
    assert_int_equal(syscall(SYS_getpid), getpid());
    assert_int_equal(blocked_in(NULL, NULL).amount, all.amount);
}

/* ---- a mutex that is gone right after it was unlocked ---- */

static void *takes_it_and_unmaps_it(void *page)
{
    pthread_mutex_t *m = page;
    pthread_mutex_lock(m);
    pthread_mutex_unlock(m);
    pthread_mutex_destroy(m);
    munmap(page, PAGE);
    return NULL;
}

static void a_mutex_is_not_touched_once_it_is_unlocked(void **state)
{
    (void)state;
    totals before = held_up_by(NULL, (void *)pthread_mutex_unlock);
    for (int i = 0; i < 200; i++) {
        pthread_t thread;
        pthread_mutex_t *m =
            mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(m, MAP_FAILED);
        pthread_mutex_init(m, NULL);
        pthread_mutex_lock(m);
        start(&thread, 1, takes_it_and_unmaps_it, m);
        until_waited_for(m, 1);
        pthread_mutex_unlock(m);
        join(&thread, 1);
    }
    assert_true(held_up_by(NULL, (void *)pthread_mutex_unlock).amount > before.amount);
}

/* ---- handlers ---- */

static sem_t handler_semaphore;

KNOWN(waits_in_handler)
static void waits_in_handler(int signal)
{
    (void)signal;
    int saved_errno = errno;
    while (sem_wait(&handler_semaphore) != 0)
        continue;
    errno = saved_errno;
}

static void *waits_on_alternate_stack(void *stack)
{
    stack_t alternate = {.ss_sp = stack, .ss_size = 64 * 1024};
    assert_int_equal(sigaltstack(&alternate, NULL), 0);
    waits(NULL);
    return NULL;
}

static void see(const uintptr_t *pcs, uint32_t depth, const pprof_labels *labels, uint64_t since_ns,
                void *seen)
{
    (void)labels, (void)since_ns;
    for (uint32_t i = 0; i < depth; i++)
        *(unsigned *)seen += is_within(pcs[i], &waits_in_handler_code);
}

/* The handler's stack lies below or above the one that it interrupts. */
static void interrupt_a_wait(bool stack_above)
{
    enum { STACK = 1 << 20 };
    pthread_t thread;
    pthread_attr_t attributes;
    char *memory =
        mmap(NULL, 3 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    make(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE, PTHREAD_PROCESS_PRIVATE);
    sem_init(&handler_semaphore, 0, 0);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, memory + STACK, STACK);
    totals lock_waits = blocked_in(NULL, (void *)pthread_mutex_lock);
    totals handler_waits = blocked_in(&waits_in_handler_code, NULL);
    totals delays = held_up_by(NULL, NULL);
    pthread_mutex_lock(&mutex);
    assert_int_equal(pthread_create(&thread, &attributes, waits_on_alternate_stack,
                                    stack_above ? memory + 2 * STACK : memory),
                     0);
    until_listed(&mutex, 1);
    pthread_kill(thread, SIGUSR1);
    until_listed(&handler_semaphore, 1);
    assert_int_equal(listed_for(&mutex), 1);
    unsigned seen = 0;
    while (seen == 0) /* listed first, then shown */
        pp_contention_each_waiting(see, &seen);
    assert_int_equal(seen, 1);
    sem_post(&handler_semaphore);
    until_listed(&handler_semaphore, 0);
    pthread_mutex_unlock(&mutex);
    join(&thread, 1);
    totals lock_waits_now = blocked_in(NULL, (void *)pthread_mutex_lock);
    assert_int_equal(lock_waits_now.count - lock_waits.count, 1);
    assert_int_equal(blocked_in(&waits_in_handler_code, NULL).count - handler_waits.count, 1);
    assert_int_equal(held_up_by(NULL, NULL).amount - delays.amount,
                     lock_waits_now.amount - lock_waits.amount);
    munmap(memory, 3 * STACK);
}

static void a_handler_may_wait_in_the_middle_of_a_wait(void **state)
{
    (void)state;
    NOT_UNDER_TSAN();
    struct sigaction action = {.sa_handler = waits_in_handler, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, NULL);
    interrupt_a_wait(true);
    interrupt_a_wait(false);
    signal(SIGUSR1, SIG_DFL);
}

/* ---- the limit ---- */

static void more_waits_than_there_is_room_for_are_counted_as_lost(void **state)
{
    (void)state;
    enum { MANY = PP_CONTENDED_MAX + 10 };
    static pp_wait list[MANY];
    pp_contention_facts before;
    pp_contention_facts after;
    pp_contention_facts_read(&before);
    for (uintptr_t i = 0; i < MANY; i++) {
        pp_caller caller = {.leaf =
                                (uintptr_t)more_waits_than_there_is_room_for_are_counted_as_lost,
                            .sp = (uintptr_t)&caller - i};
        list[i] = pp_wait_begin(0x1000 + i * 64, PP_WAIT_FOR_LOCK, &caller);
    }
    pp_contention_facts_read(&after);
    assert_in_range(after.lost_waits - before.lost_waits, MANY - PP_CONTENDED_MAX, MANY / 2);
    for (int i = MANY - 1; i >= 0; i--)
        pp_wait_cancel(list[i]);
    assert_int_equal(listed_for((void *)0x1000), 0);
    make(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE, PTHREAD_PROCESS_PRIVATE);
    totals lock_waits = blocked_in(NULL, (void *)pthread_mutex_lock);
    holds();
    assert_int_equal(blocked_in(NULL, (void *)pthread_mutex_lock).count - lock_waits.count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_kind_of_mutex_charges_its_holder, count_everything),
        cmocka_unit_test_setup(a_priority_protecting_mutex_says_what_it_says_without,
                               count_everything),
        cmocka_unit_test_setup(a_mutex_that_is_not_recoverable_says_so_to_everybody,
                               count_everything),
        cmocka_unit_test_setup(a_semaphore_that_is_free_is_a_cancellation_point_where_it_is_without,
                               count_everything),
        cmocka_unit_test_setup(nested_locks_are_charged_each_to_its_holder, count_everything),
        cmocka_unit_test_setup(wrong_arguments_are_refused_before_anything_is_taken,
                               count_everything),
        cmocka_unit_test_setup(who_holds_a_spin_lock_is_charged, count_everything),
        cmocka_unit_test_setup(what_is_refused_is_no_wait, count_everything),
        cmocka_unit_test_setup(the_last_one_at_a_barrier_does_not_wait, count_everything),
        cmocka_unit_test_setup(a_join_is_an_event_if_the_thread_still_runs, count_everything),
        cmocka_unit_test_setup(a_semaphore_is_an_event_if_it_is_not_free, count_everything),
        cmocka_unit_test_setup(a_wait_for_a_futex_is_an_event_where_it_was_made, count_everything),
        cmocka_unit_test_setup(a_mutex_is_not_touched_once_it_is_unlocked, count_everything),
        cmocka_unit_test_setup(a_handler_may_wait_in_the_middle_of_a_wait, count_everything),
        cmocka_unit_test_setup(more_waits_than_there_is_room_for_are_counted_as_lost,
                               count_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
