/* SPDX-License-Identifier: MIT
 *
 * cmd_idle_filter.c: which samples of a wall-clock profile --ignore-idle leaves out.
 */
#include "cmd_builder.h"

#include "profile/idle_filter.h"

/* A sample of 7 ns with that stack, the leaf first, and state; NULL: without the label. */
static cp_idle filter(const char *frames, const char *state, uint32_t *left)
{
    cp_profile *profile = new_model("wall", "nanoseconds");

    add_sample(profile, frames, 7);
    if (state) {
        cp_label *label = CP_POOL_ARRAY(&profile->pool, cp_label, 1);
        *label = (cp_label){.key = cp_strings_put(&profile->strings, "state"),
                            .text = cp_strings_put(&profile->strings, state)};
        profile->samples[0].labels = label;
        profile->samples[0].label_count = 1;
    }
    cp_idle idle = cp_profile_filter_idle(profile, 0);
    *left = profile->sample_count;
    cp_profile_free(profile);
    return idle;
}

static void expect_idle(const char *frames, const char *state)
{
    uint32_t left;
    cp_idle idle = filter(frames, state, &left);

    if (left != 0) {
        fail_msg("%s in state %s is left", frames, state);
    }
    assert_int_equal(idle.value, 7);
    assert_true(idle.has_states);
}

static void expect_left(const char *frames, const char *state)
{
    uint32_t left;
    cp_idle idle = filter(frames, state, &left);

    if (left != 1) {
        fail_msg("%s in state %s is left out", frames, state ? state : "(none)");
    }
    assert_int_equal(idle.value, 0);
    assert_int_equal(idle.has_states, state != NULL);
}

static void loops_wait_in_poll(void **unused)
{
    (void)unused;
    expect_idle("epoll_wait loop main", "poll");
    expect_idle("__poll g_main_loop_run main", "poll");
    expect_left("epoll_wait loop main", "running"); /* entering the call takes CPU time */
    expect_left("epoll_wait loop main", "preempted");
}

static void who_polls_for_an_answer_is_not_idle(void **unused)
{
    (void)unused;
    expect_left("__poll send_dg __res_context_query getaddrinfo connects serve main", "poll");
    expect_left("poll pqSocketPoll PQgetResult serve main", "poll");
}

static void threads_of_a_pool_wait_for_work(void **unused)
{
    (void)unused;
    expect_idle("__futex_abstimed_wait_common ___pthread_cond_wait worker start_thread __clone3",
                "lock");
    expect_idle("futex pthread_cond_wait take_job worker start_thread clone", "lock");
    expect_idle("futex pthread_cond_wait std::condition_variable::wait run "
                "std::thread::_State_impl::_M_run execute_native_thread_routine start_thread",
                "lock");
    expect_idle("futex __new_sem_wait sem_wait worker start_thread", "lock");
}

/* As on a system without debug files. */
static void names_that_libc_lacks_do_not_matter(void **unused)
{
    (void)unused;
    expect_idle(
        "[libc.so.6]+0x9a700 [libc.so.6]+0x8fb90 pthread_cond_wait pool [libc.so.6]+0x92620 "
        "[libc.so.6]+0x110771",
        "lock");
    expect_idle("pthread_cond_wait pool [libc.so.6]+0x92620 clone", "lock");
    expect_left("pthread_cond_wait work main [libc.so.6]+0x29c30 __libc_start_main _start", "lock");
    expect_left("pthread_cond_wait [libc.so.6]+0x92620", "lock");
    expect_left("pthread_cond_wait a b c d [libc.so.6]+0x92620", "lock");
    expect_idle(
        "[ld-musl-x86_64.so.1]+0x5d1f0 pthread_cond_timedwait pool [ld-musl-x86_64.so.1]+0x5cbdd",
        "lock");
    expect_left("pthread_cond_timedwait work main [ld-musl-x86_64.so.1]+0x1d89", "lock");
}

static void other_waits_for_conditions_are_not_idle(void **unused)
{
    (void)unused;
    expect_left("futex pthread_cond_wait answer_of query page request worker start_thread", "lock");
    expect_left("futex pthread_cond_wait work main __libc_start_call_main", "lock");
    expect_left("futex pthread_cond_wait start_thread", "lock"); /* nobody calls it */
    expect_left("futex pthread_cond_wait worker", "lock");       /* a stack that is cut */
}

static void waits_for_a_mutex_are_not_idle(void **unused)
{
    (void)unused;
    expect_left("__lll_lock_wait pthread_mutex_lock worker start_thread", "lock");
    /* the condition's own mutex */
    expect_left("__lll_lock_wait __pthread_mutex_cond_lock queue worker start_thread", "lock");
}

static void joins_acceptors_and_waits_for_signals_are_idle(void **unused)
{
    (void)unused;
    expect_idle("__futex_abstimed_wait_common __pthread_clockjoin_ex main", "lock");
    expect_idle("accept4 acceptor start_thread", "net");
    expect_idle("__sigsuspend master main", "other");
    expect_left("recv read_answer main", "net");
    expect_left("read accept main", "io");
}

static void samples_without_a_state_stay(void **unused)
{
    (void)unused;
    expect_left("epoll_wait main", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_wait_in_poll),
        cmocka_unit_test(who_polls_for_an_answer_is_not_idle),
        cmocka_unit_test(threads_of_a_pool_wait_for_work),
        cmocka_unit_test(names_that_libc_lacks_do_not_matter),
        cmocka_unit_test(other_waits_for_conditions_are_not_idle),
        cmocka_unit_test(waits_for_a_mutex_are_not_idle),
        cmocka_unit_test(joins_acceptors_and_waits_for_signals_are_idle),
        cmocka_unit_test(samples_without_a_state_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
