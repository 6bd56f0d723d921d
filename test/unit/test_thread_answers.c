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
#include "sys/clock.h"
#include "sys/sampling_signal.h"
#include "sys/signal_mask.h"
#include "threads/small_stacks.h"
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

/* ---- small alternate stacks ---- */

static bool is_pending(void)
{
    pp_signal_mask pending = 0;
    pp_system_call(SYS_rt_sigpending, &pending, sizeof pending);
    return (pending & pp_signal_bit(PP_SAMPLING_SIGNAL)) != 0;
}

/* Longer than a tick of any kernel: a timer that there still is sends its signal. */
static void burn_ticks(void)
{
    enum { TICKS_NS = 30 * 1000 * 1000 };
    uint64_t begin_ns = pp_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    while (pp_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns < TICKS_NS) {
    }
}

/* As the hook of sigaltstack() does it: how much a signal takes depends on the processor. */
static void set_up_small_stack(void)
{
    pp_small_stacks_set_own((uintptr_t)pthread_self());
    pp_answers_withdraw();
}

static pp_answer *ask_myself(void)
{
    pp_answer *answer = pp_answer_ask(gettid());
    assert_non_null(answer);
    return answer;
}

/* The signal stays pending here, so that one of before the small stack is told from one of after it. */
static void a_thread_with_a_small_stack_is_not_asked(void **state)
{
    (void)state;
    const pp_signal_mask ours = pp_signal_bit(PP_SAMPLING_SIGNAL);
    const struct timespec at_once = {0};
    pp_system_call(SYS_rt_sigprocmask, SIG_BLOCK, &ours, NULL, sizeof ours);
    pp_answer *answer = ask_myself();
    set_up_small_stack();
    while (is_pending()) { /* a tick came before */
        pp_answer_close(answer);
        pp_system_call(SYS_rt_sigtimedwait, &ours, NULL, &at_once, sizeof ours);
        pp_small_stacks_set_own(0);
        answer = ask_myself();
        set_up_small_stack();
    }
    assert_null(pp_answer_ask(gettid()));
    burn_ticks();
    assert_false(is_pending());
    const pp_walk *walk = pp_answer_look(answer);
    assert_non_null(walk); /* the asker need not wait */
    assert_int_equal(walk->depth, 0);
    pp_answer_close(answer);
    pp_small_stacks_set_own(0);
    pp_system_call(SYS_rt_sigprocmask, SIG_UNBLOCK, &ours, NULL, sizeof ours);
    answer = ask_myself();
    while (pp_answer_look(answer) == NULL) {
        burn_ticks();
    }
    assert_true(pp_answer_look(answer)->depth > 0);
    pp_answer_close(answer);
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
        cmocka_unit_test(a_thread_with_a_small_stack_is_not_asked),
        cmocka_unit_test(a_child_has_all_room_and_copies_no_pages_for_it),
    };
    return cmocka_run_group_tests(tests, start_threads, end_threads);
}
