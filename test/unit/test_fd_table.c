/* SPDX-License-Identifier: MIT
 *
 * test_fd_table.c: a stack and labels for each number; labels are held as long as that, and
 * no longer, also where a handler or another thread is at the same number.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/stack_hash.h"
#include "mmap_fault.h"
#include "kinds/fd/fd_table.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

static const pp_trie_stack *stack_number(uintptr_t number)
{
    const uintptr_t pcs[2] = {number + 1, 0x1000};
    return pp_stack_trie_find(pcs, 2, pp_stack_hash(pcs, 2));
}

static pprof_labels *new_labels(void)
{
    int error = 0;
    pprof_labels *labels = pp_labels_new(NULL, (const char *const[]){"a", "b"}, 1, &error);
    assert_non_null(labels);
    return labels;
}

static uint32_t references(const pprof_labels *labels)
{
    return __atomic_load_n(&labels->head.refs, __ATOMIC_ACQUIRE);
}

static const pp_trie_stack *stack_at(int fd)
{
    pprof_labels *labels = NULL;
    const pp_trie_stack *stack = pp_fd_table_get(fd, &labels);
    pp_labels_unref(labels);
    return stack;
}

static void test_set_and_clear(void **state)
{
    (void)state;
    pprof_labels *labels = new_labels();
    pprof_labels *found = NULL;
    assert_null(stack_at(5));
    pp_fd_table_set(5, stack_number(1), pp_labels_ref(labels));
    assert_ptr_equal(pp_fd_table_get(5, &found), stack_number(1));
    assert_ptr_equal(found, labels);
    assert_int_equal(references(labels), 3);
    pp_labels_unref(found);
    /* Another one in its place. */
    pp_fd_table_set(5, stack_number(2), NULL);
    assert_int_equal(references(labels), 1);
    assert_ptr_equal(pp_fd_table_get(5, &found), stack_number(2));
    assert_null(found);
    pp_fd_table_set(5, stack_number(3), pp_labels_ref(labels));
    pp_fd_table_clear(5, 5);
    assert_int_equal(references(labels), 1);
    assert_null(stack_at(5));
    pp_fd_table_clear(5, 5);
    assert_int_equal(references(labels), 1);
    pp_labels_unref(labels);
}

static void test_unknown(void **state)
{
    (void)state;
    pp_fd_table_set_unknown(7, stack_number(1));
    pp_fd_table_set_unknown(7, stack_number(2));
    assert_ptr_equal(stack_at(7), stack_number(1));
    pp_fd_table_set(7, stack_number(3), NULL);
    pp_fd_table_set_unknown(7, stack_number(2));
    assert_ptr_equal(stack_at(7), stack_number(3));
    pp_fd_table_clear(7, 7);
}

static void test_ranges(void **state)
{
    (void)state;
    const int numbers[] = {0, 10, 1023, 1024, 5000, 70000, PP_FD_MAX - 1};
    enum { COUNT = sizeof numbers / sizeof *numbers };
    for (unsigned i = 0; i < COUNT; i++) {
        pp_fd_table_set(numbers[i], stack_number(i), NULL);
    }
    pp_fd_table_clear(1023, 5000);
    for (unsigned i = 0; i < COUNT; i++) {
        const pp_trie_stack *expected =
            numbers[i] >= 1023 && numbers[i] <= 5000 ? NULL : stack_number(i);
        assert_ptr_equal(stack_at(numbers[i]), expected);
    }
    pp_fd_table_clear(3, UINT32_MAX);
    for (unsigned i = 0; i < COUNT; i++) {
        assert_ptr_equal(stack_at(numbers[i]), i == 0 ? stack_number(0) : NULL);
    }
    /* An empty one, and the whole. */
    pp_fd_table_clear(1, 0);
    assert_ptr_equal(stack_at(0), stack_number(0));
    pp_fd_table_clear(0, UINT32_MAX);
    assert_null(stack_at(0));
}

static void test_numbers_that_are_none(void **state)
{
    (void)state;
    const int numbers[] = {-1, INT32_MIN, PP_FD_MAX, INT32_MAX};
    for (unsigned i = 0; i < 4; i++) {
        pprof_labels *labels = new_labels();
        pp_fd_table_set(numbers[i], stack_number(1), pp_labels_ref(labels));
        pp_fd_table_set_unknown(numbers[i], stack_number(1));
        assert_null(stack_at(numbers[i]));
        assert_int_equal(references(labels), 1);
        pp_labels_unref(labels);
    }
}

static void test_no_memory(void **state)
{
    (void)state;
    needs_mmap_fault();
    const pp_trie_stack *stack = stack_number(1);
    pprof_labels *labels = new_labels();
    struct rlimit room;
    getrlimit(RLIMIT_AS, &room);
    setrlimit(RLIMIT_AS,
              &(struct rlimit){0, room.rlim_max}); /* bare system calls are refused, too */
    pp_fd_table_set(200000, stack, pp_labels_ref(labels));
    setrlimit(RLIMIT_AS, &room);
    assert_null(stack_at(200000));
    assert_int_equal(references(labels), 1);
    pp_labels_unref(labels);
}

/* ---- at the same time ---- */

enum { NUMBERS = 8, ROUNDS = 30000 };

static pprof_labels *shared;
static bool stop;

static void *open_and_close(void *argument)
{
    const pp_trie_stack *stack = stack_number((uintptr_t)argument);
    for (unsigned i = 0; i < ROUNDS; i++) {
        int fd = (int)(i % NUMBERS);
        pp_fd_table_set(fd, stack, pp_labels_ref(shared));
        if (i % 3 == 0) {
            pp_fd_table_clear((unsigned)fd, (unsigned)fd);
        }
    }
    return NULL;
}

static void *look(void *argument)
{
    (void)argument;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        for (int fd = 0; fd < NUMBERS; fd++) {
            pprof_labels *labels = NULL;
            const pp_trie_stack *stack = pp_fd_table_get(fd, &labels);
            assert_true(stack == NULL || stack == stack_number(1) || stack == stack_number(2));
            assert_true(labels == NULL || labels == shared);
            pp_labels_unref(labels);
        }
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    pthread_t threads[3];
    shared = new_labels();
    stop = false;
    pthread_create(&threads[0], NULL, look, NULL);
    pthread_create(&threads[1], NULL, open_and_close, (void *)1);
    pthread_create(&threads[2], NULL, open_and_close, (void *)2);
    pthread_join(threads[1], NULL);
    pthread_join(threads[2], NULL);
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    pthread_join(threads[0], NULL);
    /* What two threads did to one number at once may have left labels without a stack. */
    for (int fd = 0; fd < NUMBERS; fd++) {
        pp_fd_table_set(fd, stack_number(1), NULL);
        pp_fd_table_clear((unsigned)fd, (unsigned)fd);
    }
    assert_int_equal(references(shared), 1);
    pp_labels_unref(shared);
}

/* ---- handlers ---- */

static unsigned handled;

static void open_in_handler(int signal)
{
    (void)signal;
    int fd = (int)(handled++ % NUMBERS);
    pp_fd_table_set(fd, stack_number(2), pp_labels_ref(shared));
    pp_fd_table_clear((unsigned)fd, (unsigned)fd);
}

static void *strike(void *thread)
{
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        pthread_kill(*(pthread_t *)thread, SIGUSR1);
        usleep(50);
    }
    return NULL;
}

static void test_handlers(void **state)
{
    (void)state;
    pthread_t self = pthread_self();
    pthread_t striker;
    struct sigaction action = {.sa_handler = open_in_handler};
    stack_number(2);
    shared = new_labels();
    stop = false;
    handled = 0;
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&striker, NULL, strike, &self);
    for (unsigned i = 0; __atomic_load_n(&handled, __ATOMIC_RELAXED) < 2000; i++) {
        int fd = (int)(i % NUMBERS);
        pp_fd_table_set(fd, stack_number(1), pp_labels_ref(shared));
        pp_fd_table_clear((unsigned)fd, (unsigned)fd);
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    pthread_join(striker, NULL);
    for (int fd = 0; fd < NUMBERS; fd++) {
        pp_fd_table_set(fd, stack_number(1), NULL);
        pp_fd_table_clear((unsigned)fd, (unsigned)fd);
    }
    assert_int_equal(references(shared), 1);
    pp_labels_unref(shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set_and_clear), cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_ranges),        cmocka_unit_test(test_numbers_that_are_none),
        cmocka_unit_test(test_no_memory),     cmocka_unit_test(test_threads),
        cmocka_unit_test(test_handlers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
