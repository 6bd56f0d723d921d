/* SPDX-License-Identifier: MIT
 *
 * test_thread_answers.c: a thread that computes answers, one that waits is left alone.
 *
 * Libc: glibc
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "host/sampling_handler.h"
#include "threads/thread_answers.h"

#include "parked_thread.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>

static parked_thread waits, computes = {.computes = true};

static int start_threads(void **state)
{
    (void)state;
    parked_start(&waits);
    parked_start(&computes);
    return pp_sampling_handler_install();
}

static int end_threads(void **state)
{
    (void)state;
    return parked_end(&computes) && parked_end(&waits) ? 0 : -1;
}

static const pp_walk *wait_for(const pp_answer *answer)
{
    const pp_walk *walk = NULL;
    while ((walk = pp_answer_look(answer)) == NULL) {
        poll(NULL, 0, 1);
    }
    return walk;
}

static void who_computes_answers(void **state)
{
    (void)state;
    enum { QUESTIONS = 5 };
    pp_answer *of_waiter = pp_answer_ask(waits.tid);
    assert_non_null(of_waiter);
    for (unsigned i = 0; i < QUESTIONS; i++) {
        pp_answer *answer = pp_answer_ask(computes.tid);
        assert_non_null(answer);
        const pp_walk *walk = wait_for(answer);
        bool above = false;
        for (uint32_t k = 0; k < walk->depth; k++) {
            above = above || walk->pcs[k] == computes.returns_to[1];
        }
        assert_true(above);
        assert_int_equal(walk->stop, PP_STOP_END);
        pp_answer_close(answer);
    }
    assert_null(pp_answer_look(of_waiter)); /* all the time, nothing */
    pp_answer_close(of_waiter);
}

static void room_is_limited_and_given_back(void **state)
{
    (void)state;
    pp_answer *answers[PP_ANSWERS_MAX];
    for (unsigned i = 0; i < PP_ANSWERS_MAX; i++) {
        assert_true(pp_answers_have_room());
        answers[i] = pp_answer_ask(waits.tid);
        assert_non_null(answers[i]);
        assert_true(pp_answers_own(answers[i]));
    }
    assert_false(pp_answers_have_room());
    assert_null(pp_answer_ask(waits.tid));
    for (unsigned i = 0; i < PP_ANSWERS_MAX; i++) {
        pp_answer_close(answers[i]);
    }
    assert_true(pp_answers_have_room());
    assert_false(pp_answers_own((char *)answers[0] + 1));
    assert_false(pp_answers_own(NULL));
    assert_false(pp_answers_own(answers));
}

/* A signal that is for somebody else, or comes after the question was given up. */
static void others_cannot_answer(void **state)
{
    (void)state;
    ucontext_t context;
    assert_int_equal(getcontext(&context), 0);
    pp_answer *answer = pp_answer_ask(waits.tid);
    assert_non_null(answer);
    pp_answer_give(answer, &context);
    assert_null(pp_answer_look(answer));
    pp_answer_close(answer);
    answer = pp_answer_ask(gettid());
    assert_non_null(answer);
    pp_answer_close(answer);
    pp_answer_give(answer, &context);
    assert_true(pp_answers_have_room());
}

static void nobody_is_asked_who_is_not_there(void **state)
{
    (void)state;
    assert_null(pp_answer_ask(1 << 30));
}

static long page_faults(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return use.ru_minflt;
}

/* Of a question that the parent asks the child keeps nothing. Each slot is on pages of its own, which a child that wrote
 * to all of them would copy. */
static void a_child_has_all_room_and_copies_no_pages_for_it(void **state)
{
    (void)state;
    pp_answer *asked = pp_answer_ask(waits.tid);
    assert_non_null(asked);
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); /* past the handlers of fork */
    if (child == 0) {
        long before = page_faults();
        pp_answers_after_fork_in_child();
        long copied = page_faults() - before;
        _exit(copied < PP_ANSWERS_MAX / 2 && pp_answer_ask(gettid()) == asked ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    pp_answer_close(asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_computes_answers),
        cmocka_unit_test(room_is_limited_and_given_back),
        cmocka_unit_test(others_cannot_answer),
        cmocka_unit_test(nobody_is_asked_who_is_not_there),
        cmocka_unit_test(a_child_has_all_room_and_copies_no_pages_for_it),
    };
    return cmocka_run_group_tests(tests, start_threads, end_threads);
}
