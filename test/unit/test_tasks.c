/* SPDX-License-Identifier: MIT
 *
 * test_tasks.c: the threads of this process are listed, all and once; their clocks; and no
 * cancellation in the middle of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sys/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 40 };

static pthread_t threads[THREADS];
static int tids[THREADS];
static pthread_barrier_t started, released;

static void *stay(void *context)
{
    tids[(uintptr_t)context] = (int)syscall(SYS_gettid);
    pthread_barrier_wait(&started);
    pthread_barrier_wait(&released);
    return NULL;
}

static void start_threads(void)
{
    pthread_barrier_init(&started, NULL, THREADS + 1);
    pthread_barrier_init(&released, NULL, THREADS + 1);
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, stay, (void *)i), 0);
    pthread_barrier_wait(&started);
}

static void end_threads(void)
{
    pthread_barrier_wait(&released);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&started);
    pthread_barrier_destroy(&released);
}

typedef struct listing {
    int tid[1000];
    int count;
} listing;

static void add_tid(int tid, void *context)
{
    listing *l = context;
    assert_in_range(l->count, 0, 999);
    l->tid[l->count++] = tid;
}

static bool is_listed(const listing *l, int tid)
{
    int times = 0;
    for (int i = 0; i < l->count; i++)
        times += l->tid[i] == tid;
    assert_in_range(times, 0, 1);
    return times == 1;
}

static void every_thread_is_listed_once(void **state)
{
    (void)state;
    static const size_t sizes[] = {64, 100, 300, 1024, 4096};
    start_threads();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        _Alignas(16) char buffer[4096];
        listing l = {.count = 0};
        int seen = pp_tasks_each(buffer, sizes[i], add_tid, &l);
        assert_int_equal(seen, l.count);
        assert_true(is_listed(&l, getpid()));
        assert_true(is_listed(&l, pp_task_self()));
        for (int j = 0; j < THREADS; j++)
            assert_true(is_listed(&l, tids[j]));
        assert_int_equal(pp_tasks_count(), l.count); /* a sanitizer may have one of its own */
    }
    end_threads();
}

static void a_buffer_that_holds_nothing_is_an_error(void **state)
{
    (void)state;
    _Alignas(16) char buffer[16];
    listing l = {.count = 0};
    assert_int_equal(pp_tasks_each(buffer, 8, add_tid, &l), -EINVAL);
    assert_int_equal(l.count, 0);
}

static void no_descriptor_is_an_error_and_none_stays_open(void **state)
{
    (void)state;
    _Alignas(16) char buffer[4096];
    listing l = {.count = 0};
    struct rlimit old;
    getrlimit(RLIMIT_NOFILE, &old);
    const struct rlimit none = {0, old.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    int error = pp_tasks_each(buffer, sizeof buffer, add_tid, &l);
    setrlimit(RLIMIT_NOFILE, &old);
    assert_int_equal(error, -EMFILE);
    int before = dup(0);
    close(before);
    for (int i = 0; i < 10; i++) {
        l.count = 0;
        int seen = pp_tasks_each(buffer, sizeof buffer, add_tid, &l);
        assert_true(seen > 0);
        assert_int_equal(seen, l.count);
    }
    int after = dup(0);
    close(after);
    assert_int_equal(after, before);
}

static void ignore_tid(int tid, void *context)
{
    (void)tid;
    (void)context;
}

/* Reached only if no call before it was a cancellation point. */
static bool came_through;

static void *list_while_cancelled(void *context)
{
    _Alignas(16) char buffer[1024];
    int old = 0;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    pthread_barrier_wait(&started);
    pthread_barrier_wait(&released); /* the request is pending by now */
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
    pp_tasks_each(buffer, sizeof buffer, ignore_tid, NULL);
    pp_tasks_count();
    pp_task_cpu_ns(pp_task_self());
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old); /* sanitizers dislike the real thing */
    came_through = true;
    return context;
}

static void a_pending_cancellation_waits(void **state)
{
    (void)state;
    void *result = NULL;
    pthread_barrier_init(&started, NULL, 2);
    pthread_barrier_init(&released, NULL, 2);
    came_through = false;
    assert_int_equal(pthread_create(&threads[0], NULL, list_while_cancelled, NULL), 0);
    pthread_barrier_wait(&started);
    pthread_cancel(threads[0]);
    pthread_barrier_wait(&released);
    pthread_join(threads[0], &result);
    assert_null(result);
    assert_true(came_through);
    pthread_barrier_destroy(&started);
    pthread_barrier_destroy(&released);
}

static int64_t clock_of(clockid_t clock)
{
    struct timespec now;
    assert_int_equal(clock_gettime(clock, &now), 0);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void clocks_of_threads_are_theirs(void **state)
{
    (void)state;
    int self = pp_task_self();
    for (int i = 0; i < 100; i++) {
        int64_t before = clock_of(CLOCK_THREAD_CPUTIME_ID);
        int64_t now = pp_task_cpu_ns(self);
        int64_t after = clock_of(CLOCK_THREAD_CPUTIME_ID);
        assert_true(before <= now && now <= after);
    }
    start_threads();
    for (int i = 0; i < THREADS; i++) {
        clockid_t clock;
        assert_int_equal(pthread_getcpuclockid(threads[i], &clock), 0);
        assert_int_equal(pp_task_cpu_clock(tids[i]), clock);
        assert_true(pp_task_cpu_ns(tids[i]) >= 0);
    }
    end_threads();
}

static void clocks_of_nobody_are_refused(void **state)
{
    (void)state;
    assert_int_equal(pp_task_cpu_ns(1 << 22), -1); /* beyond the largest pid there can be */
    assert_int_equal(pp_task_cpu_ns(INT32_MAX >> 3), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_thread_is_listed_once),
        cmocka_unit_test(a_buffer_that_holds_nothing_is_an_error),
        cmocka_unit_test(no_descriptor_is_an_error_and_none_stays_open),
        cmocka_unit_test(a_pending_cancellation_waits),
        cmocka_unit_test(clocks_of_threads_are_theirs),
        cmocka_unit_test(clocks_of_nobody_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
