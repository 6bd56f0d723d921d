/* SPDX-License-Identifier: MIT
 *
 * test_wall_accounts.c: a thread's account is that of its life: neither looks that met it before its begin nor
 * those after its end count anything twice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kinds/cpu/wall_accounts.h"
#include "sys/clock.h"
#include "sys/tasks.h"

#include "mmap_fault.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const uint64_t second_ns = PP_NS_PER_S;
static pp_worker looker;
static const uintptr_t stack[] = {0x1000, 0x2000};

static void add(const pp_stack_entry *entry, void *sum)
{
    *(uint64_t *)sum += entry->count;
}

static uint64_t sum_at(uint64_t now_ns)
{
    uint64_t sum = 0;
    pp_stack_counts_each(pp_wall_settle_all(now_ns)->counts, add, &sum);
    return sum;
}

/* The thread is seen asleep, and has not run since it was seen before. */
static void see_asleep(uint64_t now_ns, int64_t cpu_ns)
{
    const pp_wall_sight sight = {.tid = pp_task_self(),
                                 .now_ns = now_ns,
                                 .cpu_ns = cpu_ns,
                                 .delay_ns = -1,
                                 .state = PP_WALL_SLEEP,
                                 .pc = stack,
                                 .depth = 2};
    pp_wall_see(&sight);
}

static void add_asleep(const pp_stack_entry *entry, void *sum)
{
    *(uint64_t *)sum += entry->pc[0] == 1 + PP_WALL_SLEEP ? entry->count : 0;
}

/* A stop and what continues the process make a wait one of another call, of which the kernel does not say what it was. */
static void a_call_that_begins_again_is_the_same_if_its_stack_is(void **state)
{
    (void)state;
    uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
    uint64_t asleep = 0;
    see_asleep(now_ns, 1000);
    pp_wall_sight again = {.tid = pp_task_self(),
                           .now_ns = now_ns + second_ns,
                           .cpu_ns = 2000,
                           .delay_ns = -1,
                           .state = PP_WALL_RUNNING};
    pp_wall_see(&again);
    again.state = PP_WALL_OTHER;
    again.is_restarted = true;
    again.pc = stack;
    for (unsigned i = 0; i < 2; i++) {
        again.depth = 2 - i; /* then it is another stack */
        again.now_ns += second_ns;
        again.cpu_ns += 1000;
        pp_wall_see(&again);
        again.now_ns += 8 * second_ns;
        pp_wall_see(&again);
    }
    pp_stack_counts_each(pp_wall_settle_all(again.now_ns)->counts, add_asleep, &asleep);
    assert_in_range(asleep, 8 * second_ns, 12 * second_ns);
}

static void end_thread(void)
{
    pp_wall_sampler.on[PP_THREAD_ENDS]();
}

static int open_books(void **state)
{
    (void)state;
    return pp_wall_accounts_begin(true, &looker);
}

static int close_books(void **state)
{
    (void)state;
    pp_wall_accounts_end();
    return 0;
}

static void a_thread_that_has_ended_is_counted_no_more(void **state)
{
    (void)state;
    uint64_t begin_ns = pp_clock_ns(CLOCK_MONOTONIC);
    pp_wall_sampler.thread_begins(0, NULL);
    int64_t cpu_ns = (int64_t)pp_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    see_asleep(begin_ns + second_ns, cpu_ns);
    end_thread();
    uint64_t lived_ns = sum_at(begin_ns + second_ns);
    assert_in_range(lived_ns, second_ns / 2, second_ns);
    cpu_ns += 1000000000;
    see_asleep(begin_ns + 2 * second_ns, cpu_ns);
    see_asleep(begin_ns + 3 * second_ns, cpu_ns);
    assert_int_equal(sum_at(begin_ns + 3 * second_ns), lived_ns);
    assert_int_equal(pp_wall_accounts_count(), 1); /* the kernel has it still */
}

static void what_looks_have_counted_before_the_begin_is_not_counted_again(void **state)
{
    (void)state;
    uint64_t before_ns = pp_clock_ns(CLOCK_MONOTONIC);
    int64_t cpu_ns = (int64_t)pp_clock_ns(CLOCK_THREAD_CPUTIME_ID) + 1000000000;
    see_asleep(before_ns, cpu_ns);
    see_asleep(before_ns + second_ns, cpu_ns);
    pp_wall_sampler.thread_begins(0, NULL);
    see_asleep(before_ns + 2 * second_ns, cpu_ns);
    end_thread();
    assert_int_equal(sum_at(before_ns + 2 * second_ns), 2 * second_ns);
}

static void an_id_that_a_new_thread_has_gets_a_new_account(void **state)
{
    (void)state;
    pp_wall_sampler.thread_begins(0, NULL);
    end_thread();
    pp_wall_sampler.thread_begins(0, NULL);
    assert_int_equal(pp_wall_accounts_count(), 1);
    uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
    see_asleep(now_ns + second_ns, (int64_t)pp_clock_ns(CLOCK_THREAD_CPUTIME_ID));
    assert_true(sum_at(now_ns + second_ns) >= second_ns / 2);
}

/* An earlier thread has used more than this one. */
static void an_id_changes_hands_unseen(void **state)
{
    (void)state;
    size_t moved = 0;
    uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
    int64_t cpu_ns = (int64_t)pp_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    int tids[2];
    see_asleep(now_ns, cpu_ns + (int64_t)second_ns);
    assert_int_equal(pp_wall_accounts_count(), 1);
    pp_wall_list_moved(true, PP_TASK_ANY_FOLDER, tids, 2, &moved);
    assert_int_equal(moved, 0);
    assert_int_equal(pp_wall_accounts_count(), 0);
    see_asleep(now_ns + second_ns, cpu_ns);
    see_asleep(now_ns + 2 * second_ns, cpu_ns);
    assert_int_equal(sum_at(now_ns + 2 * second_ns), second_ns);
}

static pp_clock_function *real_clock;
static pthread_t reader;
static sem_t reads, goes_on;
static int listed[2];

/* The thread that lists is held in the middle of its readings. */
static int read_slowly(clockid_t clock, struct timespec *now)
{
    int error = real_clock(clock, now);
    if (pthread_equal(pthread_self(), reader)) {
        sem_post(&reads);
        sem_wait(&goes_on);
    }
    return error;
}

static void *list(void *moved)
{
    reader = pthread_self();
    __atomic_store_n(&pp_clock_reader, read_slowly, __ATOMIC_RELEASE);
    pp_wall_list_moved(true, PP_TASK_ANY_FOLDER, listed, 2, moved);
    return NULL;
}

static void threads_begin_and_end_while_clocks_are_read(void **state)
{
    (void)state;
    pthread_t thread;
    size_t moved = 0;
    sem_init(&reads, 0, 0);
    sem_init(&goes_on, 0, 0);
    pp_wall_sampler.thread_begins(0, NULL);
    real_clock = pp_clock_reader;
    assert_int_equal(pthread_create(&thread, NULL, list, &moved), 0);
    sem_wait(&reads);
    end_thread(); /* returns although the other one reads */
    pp_wall_sampler.thread_begins(0, NULL);
    __atomic_store_n(&pp_clock_reader, real_clock, __ATOMIC_RELEASE);
    sem_post(&goes_on);
    pthread_join(thread, NULL);
    for (size_t i = 0; i < moved; i++) {
        assert_int_not_equal(listed[i], pp_task_self()); /* its account is newer than the reading */
    }
    see_asleep(pp_clock_ns(CLOCK_MONOTONIC) + second_ns,
               (int64_t)pp_clock_ns(CLOCK_THREAD_CPUTIME_ID));
    assert_true(sum_at(pp_clock_ns(CLOCK_MONOTONIC)) >= second_ns / 2);
}

/* Ids of no threads. */
static void each_of_many_threads_has_an_account(void **state)
{
    (void)state;
    enum { MANY = 3000, FIRST = 1 << 29 };
    uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
    for (unsigned look = 0; look < 2; look++) {
        for (int i = 0; i < MANY; i++) {
            pp_wall_see(&(pp_wall_sight){.tid = FIRST + i,
                                         .now_ns = now_ns + look * second_ns,
                                         .delay_ns = -1,
                                         .state = PP_WALL_SLEEP,
                                         .pc = stack,
                                         .depth = 2});
        }
    }
    assert_int_equal(pp_wall_accounts_count(), MANY);
    assert_int_equal(sum_at(now_ns + second_ns), MANY * second_ns);
}

/* ---- fork ---- */

static unsigned children;

/* Past the handlers of fork. The child opens books of its own, and looks. */
static void fork_and_look_in_child(void)
{
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    int status = -1;
    if (child == 0) {
        size_t moved = 0;
        when_unmapped = NULL;
        signal(SIGSEGV, SIG_DFL); /* it is the test's */
        alarm(60);                /* a chain of accounts may lead back to itself */
        pp_wall_accounts_after_fork_in_child();
        bool opened = pp_wall_accounts_begin(true, &looker) == 0;
        pp_wall_list_moved(true, PP_TASK_ANY_FOLDER, listed, 2, &moved);
        syscall(SYS_exit_group, opened && pp_wall_accounts_count() == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    children++;
}

static void a_child_of_a_fork_while_the_books_are_closed_has_its_own(void **state)
{
    uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
    see_asleep(now_ns, 0);
    see_asleep(now_ns + second_ns, 1);
    see_asleep(now_ns + 2 * second_ns, 2);
    children = 0;
    when_unmapped = fork_and_look_in_child;
    close_books(state);
    when_unmapped = NULL;
    assert_true(children > 0);
    assert_int_equal(open_books(state), 0);
}

static void add_bytes(uintptr_t start, size_t bytes, void *sum)
{
    (void)start;
    *(size_t *)sum += bytes;
}

/* What a program has locked that maps it. */
static void few_threads_need_little_memory(void **state)
{
    size_t with_tables = 0;
    size_t without = 0;
    pp_memory_each(add_bytes, &with_tables);
    close_books(state);
    pp_memory_each(add_bytes, &without);
    assert_in_range(without, 1, 1 << 20);
    assert_int_equal(open_books(state), 0);
    size_t again = 0;
    pp_memory_each(add_bytes, &again);
    assert_int_equal(again, with_tables);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_child_of_a_fork_while_the_books_are_closed_has_its_own,
                                        open_books, close_books),
        cmocka_unit_test_setup_teardown(a_call_that_begins_again_is_the_same_if_its_stack_is,
                                        open_books, close_books),
        cmocka_unit_test_setup_teardown(few_threads_need_little_memory, open_books, close_books),
        cmocka_unit_test_setup_teardown(a_thread_that_has_ended_is_counted_no_more, open_books,
                                        close_books),
        cmocka_unit_test_setup_teardown(
            what_looks_have_counted_before_the_begin_is_not_counted_again, open_books, close_books),
        cmocka_unit_test_setup_teardown(an_id_changes_hands_unseen, open_books, close_books),
        cmocka_unit_test_setup_teardown(an_id_that_a_new_thread_has_gets_a_new_account, open_books,
                                        close_books),
        cmocka_unit_test_setup_teardown(threads_begin_and_end_while_clocks_are_read, open_books,
                                        close_books),
        cmocka_unit_test_setup_teardown(each_of_many_threads_has_an_account, open_books,
                                        close_books),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
