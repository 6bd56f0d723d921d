/* SPDX-License-Identifier: MIT
 *
 * test_cpu_session.c: handlers that are late: held up while their session is stopped, or called for
 * a slot that is another thread's by now; slow ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kinds/cpu/cpu.h"
#include "kinds/cpu/cpu_session.h"
#include "kinds/cpu/cpu_threads.h"
#include "kinds/cpu/cpu_timers.h"
#include "sys/clock.h"
#include "sys/sampling_signal.h"
#include "sys/tasks.h"

#include "mmap_fault.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MS = 1000 * 1000, WEIGHT = 7, FORGED = 100 };

static const uint64_t hour_ns = 3600 * UINT64_C(1000000000); /* no signal while the test runs */
static const uintptr_t stack[] = {0x1001, 0x2001};

static void start(uint64_t period_ns)
{
    assert_int_equal(pp_cpu_start(period_ns, 0, PP_CPU_TIMERS), 0);
}

static bool stop(void)
{
    pp_cpu_result result;
    pp_cpu_stop(MS, &result);
    bool quiet = !result.handlers_in_flight;
    pp_cpu_result_release(&result);
    return quiet;
}

static void add(const pp_stack_entry *entry, void *context)
{
    uint64_t *sum = context;
    *sum += entry->count;
}

static uint64_t weight_of(const pp_cpu_session *session)
{
    uint64_t sum = 0;
    pp_stack_counts_each(session->counts, add, &sum);
    return sum;
}

static void a_late_handler_goes_on_with_its_own_session(void **state)
{
    (void)state;
    start(hour_ns);
    pp_cpu_session *late = pp_cpu_session_enter();
    assert_non_null(late);
    assert_false(stop());
    assert_null(pp_cpu_session_enter());
    assert_non_null(late->counts);

    start(hour_ns);
    assert_ptr_not_equal(pp_cpu, late);
    assert_int_not_equal(pp_cpu->number, late->number);
    uint64_t before = weight_of(late);
    pp_cpu_count(late, stack, 2, NULL, WEIGHT); /* after the next one has begun */
    assert_int_equal(weight_of(late), before + WEIGHT);
    assert_int_equal(weight_of(pp_cpu), 0);
    assert_true(stop()); /* it does not wait for the other one's */

    pp_cpu_session_leave(late);
    start(hour_ns);
    assert_true(stop());
    assert_null(late->counts); /* what it kept is given back */
}

static void there_are_not_sessions_for_ever(void **state)
{
    (void)state;
    pp_cpu_session *late[PP_CPU_SESSIONS];
    for (unsigned i = 0; i < PP_CPU_SESSIONS; i++) {
        start(hour_ns);
        late[i] = pp_cpu_session_enter();
        assert_false(stop());
    }
    assert_int_equal(pp_cpu_start(hour_ns, 0, PP_CPU_TIMERS), -EBUSY);
    pp_cpu_session_leave(late[1]);
    start(hour_ns);
    assert_ptr_equal(pp_cpu, late[1]);
    assert_true(stop());
    for (unsigned i = 0; i < PP_CPU_SESSIONS; i++) {
        if (i != 1) {
            pp_cpu_session_leave(late[i]);
        }
    }
    start(hour_ns);
    assert_true(stop());
}

/* ---- fork ---- */

static unsigned children;

/* Past the handlers of fork. */
static void fork_and_reset_in_child(void)
{
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    int status = -1;
    if (child == 0) {
        when_unmapped = NULL;
        signal(SIGSEGV, SIG_DFL); /* it is the test's */
        pp_cpu_after_fork_in_child();
        syscall(SYS_exit_group, pp_cpu_is_active());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    children++;
}

static void a_child_of_a_fork_while_late_tables_are_freed_frees_them_not_again(void **state)
{
    (void)state;
    start(hour_ns);
    pp_cpu_session *late = pp_cpu_session_enter();
    assert_false(stop());
    pp_cpu_session_leave(late);
    children = 0;
    when_unmapped = fork_and_reset_in_child;
    start(hour_ns);
    when_unmapped = NULL;
    assert_true(children > 0);
    assert_true(stop());
}

/* ---- slots ---- */

static pp_signal_action ours;
static siginfo_t seen;
static volatile sig_atomic_t seen_count;

static void remember(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    seen = *info;
    seen_count = 1;
}

/* A signal of the calling thread's timer: it has the address of the thread's slot. */
static pp_cpu_slot *catch_slot(void)
{
    pp_signal_action catching;
    assert_true(pp_signal_action_change(PP_SAMPLING_SIGNAL, NULL, &ours));
    catching = ours;
    catching.handler = remember;
    seen_count = 0;
    assert_true(pp_signal_action_change(PP_SAMPLING_SIGNAL, &catching, NULL));
    while (!seen_count) {
    }
    assert_true(pp_signal_action_change(PP_SAMPLING_SIGNAL, &ours, NULL));
    return seen.si_value.sival_ptr;
}

static void send_forged(void)
{
    for (int i = 0; i < FORGED; i++) {
        assert_int_equal(pp_system_call(SYS_rt_tgsigqueueinfo, getpid(), pp_task_self(),
                                        PP_SAMPLING_SIGNAL, &seen),
                         0);
    }
}

static pp_cpu_slot *slot_of_other;
static int ends[2];

static void *wait_with_slot(void *unused)
{
    char byte = 0;
    __atomic_store_n(&slot_of_other, catch_slot(), __ATOMIC_SEQ_CST);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    return unused;
}

static void a_signal_for_the_slot_of_another_thread_counts_nothing(void **state)
{
    (void)state;
    pthread_t other;
    assert_int_equal(pipe(ends), 0);
    start(MS);
    assert_int_equal(pthread_create(&other, NULL, wait_with_slot, NULL), 0);
    while (__atomic_load_n(&slot_of_other, __ATOMIC_SEQ_CST) == NULL) {
        poll(NULL, 0, 1);
    }
    /* It is on its way to sleep: nothing of its own comes any more then. */
    uint64_t before = 0;
    do {
        before = slot_of_other->counted;
        poll(NULL, 0, 20);
    } while (slot_of_other->counted != before);
    send_forged();
    assert_int_equal(slot_of_other->counted, before);
    assert_int_equal(write(ends[1], "", 1), 1);
    pthread_join(other, NULL);
    assert_true(stop());
}

/* The slot of a session that a handler is still in is not given out in the next one. */
static void a_slot_is_kept_from_others_while_a_handler_may_use_it(void **state)
{
    (void)state;
    start(MS);
    const pp_cpu_slot *before = catch_slot();
    pp_cpu_session *late = pp_cpu_session_enter();
    assert_false(stop());
    start(MS);
    assert_ptr_not_equal(catch_slot(), before);
    assert_true(stop());
    pp_cpu_session_leave(late);

    start(MS);
    pp_cpu_slot *now = catch_slot();
    assert_true(stop());
    uint64_t counted = now->counted;
    send_forged(); /* after the stop: no session */
    assert_int_equal(now->counted, counted);
    start(hour_ns);
    send_forged(); /* of the session before, on a slot that may be anybody's */
    assert_true(stop());
}

/* ---- threads on their last steps ---- */

typedef struct last_steps {
    sem_t is_there, may_end;
} last_steps;

/* As a thread that its hook has seen end, and that the kernel still lists. */
static void *take_last_steps(void *of_steps)
{
    last_steps *steps = of_steps;
    const uint64_t sampling = UINT64_C(1) << (PP_SAMPLING_SIGNAL - 1);
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &sampling, NULL, sizeof sampling);
    sem_post(&steps->is_there);
    sem_wait(&steps->may_end);
    return NULL;
}

static void a_thread_on_its_last_steps_is_none_that_was_not_sampled(void **state)
{
    (void)state;
    typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    create_function *past_hook = (create_function *)dlsym(RTLD_NEXT, "pthread_create");
    last_steps steps;
    pthread_t thread;
    assert_non_null(past_hook);
    sem_init(&steps.is_there, 0, 0);
    sem_init(&steps.may_end, 0, 0);
    start(hour_ns);
    uint64_t before = pp_cpu->facts.threads_unarmed;
    unsigned tasks = pp_tasks_count();
    assert_int_equal(past_hook(&thread, NULL, take_last_steps, &steps), 0);
    sem_wait(&steps.is_there);
    pp_cpu_threads_arm_all();
    assert_int_equal(pp_cpu->facts.threads_unarmed, before + 1);
    sem_post(&steps.may_end);
    pthread_join(thread, NULL);
    while (pp_tasks_count() > tasks) { /* the kernel lists it for a moment */
        poll(NULL, 0, 1);
    }
    pp_cpu_threads_arm_all();
    assert_int_equal(pp_cpu->facts.threads_unarmed, before);
    assert_true(stop());
}

/* ---- threads that no hook saw begin ---- */

typedef struct unseen {
    sem_t is_there, may_end;
} unseen;

static void *be_there(void *of_unseen)
{
    unseen *thread = of_unseen;
    sem_post(&thread->is_there);
    sem_wait(&thread->may_end);
    return NULL;
}

enum { LOOKS = 5 }; /* that have to find it, 10 ms after each other at least */

static uint64_t armed_by_handler(unsigned looks, uint64_t from_ns)
{
    uint64_t before = pp_cpu->facts.threads_armed;
    for (unsigned i = 0; i < looks; i++) {
        pp_cpu_threads_look_again(from_ns + i * UINT64_C(10000000));
    }
    return pp_cpu->facts.threads_armed - before;
}

static void a_handler_leaves_new_threads_to_a_thread_that_looks(void **state)
{
    (void)state;
    typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    create_function *past_hook = (create_function *)dlsym(RTLD_NEXT, "pthread_create");
    unseen steps[2];
    pthread_t threads[2];
    assert_non_null(past_hook);
    start(hour_ns);
    for (int i = 0; i < 2; i++) {
        sem_init(&steps[i].is_there, 0, 0);
        sem_init(&steps[i].may_end, 0, 0);
    }
    pp_cpu_threads_looker_begins();
    pp_cpu_threads_looker_begins();
    assert_int_equal(past_hook(&threads[0], NULL, be_there, &steps[0]), 0);
    sem_wait(&steps[0].is_there);
    assert_int_equal(armed_by_handler(LOOKS, hour_ns), 0);
    pp_cpu_threads_looker_ends();
    assert_int_equal(armed_by_handler(LOOKS, 2 * hour_ns), 0);
    uint64_t before = pp_cpu->facts.threads_armed;
    while (pp_cpu->facts.threads_armed == before) { /* it looks four times a second */
        pp_cpu_threads_looker_looks();
    }
    assert_int_equal(pp_cpu->facts.threads_armed, before + 1);
    pp_cpu_threads_looker_ends();

    assert_int_equal(past_hook(&threads[1], NULL, be_there, &steps[1]), 0);
    sem_wait(&steps[1].is_there);
    assert_int_equal(armed_by_handler(LOOKS - 1, UINT64_MAX / 2),
                     0); /* others are about to begin, or to end */
    assert_int_equal(armed_by_handler(1, UINT64_MAX / 2 + hour_ns), 1);
    for (int i = 0; i < 2; i++) {
        sem_post(&steps[i].may_end);
        pthread_join(threads[i], NULL);
    }
    assert_true(stop());
}

/* ---- handlers that take longer than a period ---- */

static void use_cpu_until(uint64_t cpu_ns)
{
    while (pp_clock_ns(CLOCK_THREAD_CPUTIME_ID) < cpu_ns) {
        ;
    }
}

/* The next signal is pending when such a handler returns: the thread would never go on. */
static void the_thread_goes_on_after_a_slow_handler(void **state)
{
    (void)state;
    enum { SLOW_MS = 10 };
    const pp_cpu_engine *engine = &pp_cpu_engine_timers;
    const siginfo_t pending = {.si_code = SI_TIMER};
    const uint64_t sampling = UINT64_C(1) << (PP_SAMPLING_SIGNAL - 1);
    start(MS);
    pp_cpu_slot *slot = catch_slot();
    assert_non_null(slot);
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &sampling, NULL, sizeof sampling);
    slot->by_clock = false;
    slot->rest_until_ns = 0;

    use_cpu_until(pp_clock_ns(CLOCK_THREAD_CPUTIME_ID) + 2 * MS);
    engine->after_sample(slot, pp_clock_ns(CLOCK_MONOTONIC) - SLOW_MS * MS, true);
    for (int i = 0; i < 2; i++) {
        /* It may have waited, or a hypervisor made it so slow. */
        assert_int_equal(slot->rest_until_ns, 0);
        uint64_t begin_ns = pp_clock_ns(CLOCK_MONOTONIC);
        assert_true(engine->on_signal(slot, &pending) > 0);
        use_cpu_until(slot->seen_ns + SLOW_MS * MS);
        engine->after_sample(slot, begin_ns, true);
    }
    assert_true(slot->rest_until_ns >= slot->seen_ns + 2 * SLOW_MS * MS);
    struct itimerspec next;
    assert_int_equal(syscall(SYS_timer_gettime, slot->timer, &next), 0);
    assert_true(next.it_value.tv_sec > 0 || next.it_value.tv_nsec > SLOW_MS * MS / 2);
    assert_int_equal(engine->on_signal(slot, &pending), 0);

    use_cpu_until(slot->rest_until_ns);
    assert_true(engine->on_signal(slot, &pending) >= SLOW_MS); /* nothing is lost */

    slot->slow_ns = MS;
    uint64_t rest_until_ns = slot->rest_until_ns;
    pp_cpu_timers_rest(slot, slot->seen_ns, MS / 2);
    assert_int_equal(slot->rest_until_ns, rest_until_ns);
    pp_cpu_timers_rest(slot, slot->seen_ns, MS);
    assert_int_equal(slot->rest_until_ns, rest_until_ns); /* the one before was quick */
    pp_cpu_timers_rest(slot, slot->seen_ns, MS - 1);
    assert_int_equal(slot->rest_until_ns, slot->seen_ns + MS - 1);
    engine->after_sample(slot, 0, false);
    assert_int_equal(slot->slow_ns, (MS - 1) / 2);
    assert_true(stop());
    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &sampling, NULL, sizeof sampling);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_late_handler_goes_on_with_its_own_session),
        cmocka_unit_test(there_are_not_sessions_for_ever),
        cmocka_unit_test(a_child_of_a_fork_while_late_tables_are_freed_frees_them_not_again),
        cmocka_unit_test(a_signal_for_the_slot_of_another_thread_counts_nothing),
        cmocka_unit_test(a_slot_is_kept_from_others_while_a_handler_may_use_it),
        cmocka_unit_test(a_thread_on_its_last_steps_is_none_that_was_not_sampled),
        cmocka_unit_test(a_handler_leaves_new_threads_to_a_thread_that_looks),
        cmocka_unit_test(the_thread_goes_on_after_a_slow_handler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
