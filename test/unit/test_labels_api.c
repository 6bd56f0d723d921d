/* SPDX-License-Identifier: MIT
 *
 * test_labels_api.c: the labels of threads: set, inherited, nested, jumped out of, and after a
 * fork.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernel.h"
#include "store/labels.h"

#include "pprof.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#define PAIRS(...) ((const char *const[]){__VA_ARGS__})

static const char *current(const char *key)
{
    return pprof_label(pp_labels_current(), key);
}

static void set_none(void)
{
    pprof_labels_unref(pprof_set_thread_labels(NULL));
}

static void test_set_and_restore(void **state)
{
    (void)state;
    pprof_labels *a = pprof_labels_new(NULL, PAIRS("k", "a"), 1);
    pprof_labels *b = pprof_labels_new(a, PAIRS("l", "b"), 1);
    assert_null(pprof_set_thread_labels(a));
    assert_string_equal(current("k"), "a");
    pprof_labels *before = pprof_set_thread_labels(b);
    assert_ptr_equal(before, a);
    assert_string_equal(current("l"), "b");
    pprof_labels_unref(pprof_set_thread_labels(before));
    pprof_labels_unref(before);
    assert_null(current("l"));
    pprof_labels *mine = pprof_thread_labels();
    assert_ptr_equal(mine, a);
    assert_int_equal(a->head.refs, 3); /* ours, the thread's, and mine */
    assert_int_equal(b->head.refs, 1);
    pprof_labels_unref(mine);
    set_none();
    assert_int_equal(a->head.refs, 1);
    pprof_labels_unref(a);
    pprof_labels_unref(b);
    assert_null(pprof_thread_labels());
}

static void test_errors(void **state)
{
    (void)state;
    errno = 0;
    assert_null(pprof_labels_new(NULL, NULL, 1));
    assert_int_equal(errno, EINVAL);
    errno = 0;
    assert_null(pprof_labels_new(NULL, PAIRS("", "v"), 1));
    assert_int_equal(errno, EINVAL);
    assert_null(pprof_labels_ref(NULL));
    pprof_labels_unref(NULL);
    assert_null(pprof_label(NULL, "k"));
    pprof_for_labels(NULL, NULL, NULL);
}

typedef struct listing {
    char text[64];
    int stop_after;
} listing;

static bool add(void *context, const char *key, const char *value)
{
    listing *l = context;
    snprintf(l->text + strlen(l->text), sizeof l->text - strlen(l->text), "%s=%s ", key, value);
    return --l->stop_after != 0;
}

static void test_for_labels(void **state)
{
    (void)state;
    pprof_labels *labels = pprof_labels_new(NULL, PAIRS("b", "2", "c", "3", "a", "1", "b", "4"), 4);
    listing all = {.stop_after = -1};
    listing two = {.stop_after = 2};
    pprof_for_labels(labels, add, &all);
    pprof_for_labels(labels, add, &two);
    assert_string_equal(all.text, "a=1 b=4 c=3 ");
    assert_string_equal(two.text, "a=1 b=4 ");
    pprof_for_labels(labels, NULL, NULL);
    pprof_labels_unref(labels);
}

/* ---- pprof_do ---- */

static void inner(void *calls)
{
    assert_string_equal(current("k"), "inner");
    assert_string_equal(current("outer"), "yes");
    ++*(int *)calls;
}

static void outer(void *calls)
{
    assert_string_equal(current("k"), "outer");
    pprof_do(PAIRS("k", "inner"), 1, inner, calls);
    assert_string_equal(current("k"), "outer");
    ++*(int *)calls;
}

static void test_do_nested(void **state)
{
    (void)state;
    int calls = 0;
    pprof_do(PAIRS("k", "outer", "outer", "yes"), 2, outer, &calls);
    assert_int_equal(calls, 2);
    assert_null(pp_labels_current());
}

static void expect_nothing(void *calls)
{
    assert_null(pp_labels_current());
    ++*(int *)calls;
}

static void test_do_without_a_set(void **state)
{
    (void)state;
    int calls = 0;
    pprof_do(NULL, 1, expect_nothing, &calls);
    assert_int_equal(calls, 1);
}

static void expect_the_others(void *calls)
{
    assert_null(current("k"));
    assert_string_equal(current("outer"), "yes");
    ++*(int *)calls;
}

static void try_invalid(void *calls)
{
    pprof_do(PAIRS("k", "inner", "", "no key"), 2, expect_the_others, calls);
    pprof_do(PAIRS("k", NULL), 1, expect_the_others, calls);
    assert_string_equal(current("k"), "outer");
}

/* Work for one value is not shown for the one before it. */
static void test_do_without_a_set_shows_no_other_value(void **state)
{
    (void)state;
    int calls = 0;
    pprof_do(PAIRS("k", "outer", "outer", "yes"), 2, try_invalid, &calls);
    assert_int_equal(calls, 2);
    assert_null(pp_labels_current());
}

static jmp_buf out;

static void jump(void *unused)
{
    (void)unused;
    longjmp(out, 1);
}

static void jump_and_return(void *unused)
{
    (void)unused;
    if (setjmp(out) == 0) {
        pprof_do(PAIRS("k", "jumped"), 1, jump, NULL);
    }
    assert_string_equal(current("k"), "jumped"); /* kept, as the header says */
}

/* And whoever called further up restores its own. */
static void test_do_jumped_out_of(void **state)
{
    (void)state;
    pprof_labels *base = pprof_labels_new(NULL, PAIRS("k", "base"), 1);
    pprof_set_thread_labels(base);
    pprof_do(PAIRS("k", "outer"), 1, jump_and_return, NULL);
    assert_ptr_equal(pp_labels_current(), base);
    set_none();
    pprof_labels_unref(base);
}

/* ---- threads ---- */

static void *own_labels(void *expected)
{
    const char *found = current("k");
    bool same = expected == NULL ? found == NULL : found != NULL && strcmp(found, expected) == 0;
    pprof_labels *labels = pprof_labels_new(pp_labels_current(), PAIRS("mine", "yes"), 1);
    pprof_labels_unref(pprof_set_thread_labels(labels));
    pprof_labels_unref(labels);
    return same && current("mine") != NULL ? expected : (void *)-1;
}

static int own_labels_c11(void *expected)
{
    return own_labels(expected) == expected ? 0 : 1;
}

static void run_thread(const char *expected)
{
    void *result = NULL;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, own_labels, (void *)(uintptr_t)expected), 0);
    pthread_join(thread, &result);
    assert_ptr_equal(result, expected);
}

static void run_c11_thread(const char *expected)
{
    int status = -1;
    thrd_t thread;
    assert_int_equal(thrd_create(&thread, own_labels_c11, (void *)(uintptr_t)expected),
                     thrd_success);
    thrd_join(thread, &status);
    assert_int_equal(status, 0);
}

/* What a thread sets is its own; its references go with it. */
static void test_threads_inherit(void **state)
{
    (void)state;
    pprof_labels *labels = pprof_labels_new(NULL, PAIRS("k", "creator"), 1);
    run_thread(NULL);
    pprof_set_thread_labels(labels);
    run_thread("creator");
    assert_null(current("mine"));
    set_none();
    run_thread(NULL);
    assert_int_equal(labels->head.refs, 1);
    pprof_labels_unref(labels);
}

static void test_c11_threads_inherit(void **state)
{
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip(); /* it does not know of such threads */
#endif
    pprof_labels *labels = pprof_labels_new(NULL, PAIRS("k", "creator"), 1);
    run_c11_thread(NULL);
    pprof_set_thread_labels(labels);
    run_c11_thread("creator");
    set_none();
    assert_int_equal(labels->head.refs, 1);
    pprof_labels_unref(labels);
}

static void test_thread_that_cannot_be_created(void **state)
{
    (void)state;
    need_kernel();
    pprof_labels *labels = pprof_labels_new(NULL, PAIRS("k", "creator"), 1);
    pprof_set_thread_labels(labels);
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    assert_int_equal(pthread_attr_setstacksize(&attributes, (size_t)1 << 46), 0);
    assert_int_not_equal(pthread_create(&thread, &attributes, own_labels, NULL), 0);
    pthread_attr_destroy(&attributes);
    set_none();
    assert_int_equal(labels->head.refs, 1);
    pprof_labels_unref(labels);
}

/* ---- fork ---- */

static int check_child(void)
{
    if (current("k") == NULL || strcmp(current("k"), "parent") != 0) {
        return 2;
    }
    pprof_labels *labels = pprof_labels_new(pp_labels_current(), PAIRS("k", "child"), 1);
    pprof_labels_unref(pprof_set_thread_labels(labels));
    pprof_labels_unref(labels);
    return strcmp(current("k"), "child") == 0 ? 0 : 3;
}

static void test_child_of_fork(void **state)
{
    (void)state;
    int status = 0;
    pprof_labels *labels = pprof_labels_new(NULL, PAIRS("k", "parent"), 1);
    pprof_set_thread_labels(labels);
    pid_t child = fork();
    if (child == 0) {
        _exit(check_child());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_string_equal(current("k"), "parent");
    set_none();
    pprof_labels_unref(labels);
}

/* ---- signals ---- */

static unsigned strikes;
static pprof_labels *of_handler;

/* What it finds is whole; it sets its own, makes another, and restores what it found. */
static void on_signal(int number)
{
    (void)number;
    const char *a = current("a");
    const char *b = current("b");
    if ((a == NULL) != (b == NULL) || (a != NULL && strcmp(a, b) != 0)) {
        abort();
    }
    pprof_labels *before = pprof_set_thread_labels(of_handler);
    pprof_labels *made = pprof_labels_new(of_handler, PAIRS("made", "here"), 1);
    if (made == NULL || pprof_label(made, "a") == NULL) {
        abort();
    }
    pprof_labels_unref(made);
    pprof_labels_unref(pprof_set_thread_labels(before));
    pprof_labels_unref(before);
    strikes++;
}

static void test_handlers_while_labels_change(void **state)
{
    (void)state;
    enum { STRIKES = 200 };
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
    const struct itimerspec often = {{.tv_nsec = 200000}, {.tv_nsec = 200000}};
    of_handler = pprof_labels_new(NULL, PAIRS("a", "handler", "b", "handler"), 2);
    const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    assert_int_equal(sigaction(SIGUSR2, &action, NULL), 0);
    assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    assert_int_equal(timer_settime(timer, 0, &often, NULL), 0);
    for (unsigned i = 0; __atomic_load_n(&strikes, __ATOMIC_RELAXED) < STRIKES; i++) {
        char text[16];
        snprintf(text, sizeof text, "%u", i);
        pprof_labels *labels = pprof_labels_new(NULL, PAIRS("a", text, "b", text), 2);
        pprof_labels_unref(pprof_set_thread_labels(labels));
        assert_string_equal(current("a"), text);
        assert_int_equal(labels->head.refs, 2);
        pprof_labels_unref(labels);
    }
    timer_delete(timer);
    signal(SIGUSR2, SIG_DFL);
    set_none();
    assert_int_equal(of_handler->head.refs, 1);
    pprof_labels_unref(of_handler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set_and_restore),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_for_labels),
        cmocka_unit_test(test_do_nested),
        cmocka_unit_test(test_do_without_a_set),
        cmocka_unit_test(test_do_without_a_set_shows_no_other_value),
        cmocka_unit_test(test_do_jumped_out_of),
        cmocka_unit_test(test_threads_inherit),
        cmocka_unit_test(test_c11_threads_inherit),
        cmocka_unit_test(test_thread_that_cannot_be_created),
        cmocka_unit_test(test_child_of_fork),
        cmocka_unit_test(test_handlers_while_labels_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
