/* SPDX-License-Identifier: MIT
 *
 * test_single_thread.c: libc does not know of a thread of the library until this wants to take a lock of libc's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modules/single_thread.h"

#include "host/pausable.h"
#include "modules/libc.h"
#include "sys/doorbell.h"

#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct asker {
    pp_doorbell bell;
    bool asks, stops;
    unsigned refused, permitted;
} asker;

static bool ask(void *of_asker)
{
    asker *a = of_asker;
    while (!__atomic_load_n(&a->stops, __ATOMIC_ACQUIRE)) {
        uint32_t heard = pp_doorbell_heard(&a->bell);
        if (!__atomic_load_n(&a->asks, __ATOMIC_ACQUIRE)) {
            pp_doorbell_wait(&a->bell, heard, UINT64_MAX / 2);
        } else if (pp_single_thread_may_lock()) {
            __atomic_add_fetch(&a->permitted, 1, __ATOMIC_RELEASE);
        } else {
            __atomic_add_fetch(&a->refused, 1, __ATOMIC_RELEASE);
        }
    }
    return true;
}

static void wake(void *of_asker)
{
    pp_doorbell_ring(&((asker *)of_asker)->bell);
}

static void let_ask(asker *a)
{
    __atomic_store_n(&a->asks, true, __ATOMIC_RELEASE);
    wake(a);
}

static void end(asker *a)
{
    __atomic_store_n(&a->stops, true, __ATOMIC_RELEASE);
    pp_pausable_end(a);
}

static bool libc_knows(void)
{
    const char *is_single = (const char *)pp_libc_variable("__libc_single_threaded");
    return is_single == NULL || __atomic_load_n(is_single, __ATOMIC_SEQ_CST) == 0;
}

/* Returns whether it holds, in a process that has one thread and never had more. */
static bool holds_in_child(bool (*test)(asker *a))
{
    static asker a;
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        const pp_pausable what = {
            .name = "asker", .avoids_libc = true, .run = ask, .wake = wake, .context = &a};
        _exit(pp_pausable_begin(&what) == 0 && test(&a) ? 0 : 1);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static bool is_hidden(asker *a)
{
    bool hidden = !libc_knows();
    end(a);
    return hidden && !libc_knows();
}

static bool is_shown_to_a_program_that_runs(asker *a)
{
    let_ask(a);
    while (__atomic_load_n(&a->permitted, __ATOMIC_ACQUIRE) == 0) {
    }
    bool shown = libc_knows() && a->refused > 0;
    end(a);
    return shown;
}

static bool is_shown_while_the_identity_changes(asker *a)
{
    bool was_hidden = pp_single_thread_tell();
    bool shown = libc_knows();
    pp_single_thread_hide_again();
    bool hidden = !libc_knows();
    end(a);
    return was_hidden && shown && hidden;
}

static bool is_shown_in_each_change_until_it_takes_locks(asker *a)
{
    bool holds = true;
    let_ask(a);
    while (holds && __atomic_load_n(&a->permitted, __ATOMIC_ACQUIRE) == 0) {
        bool was_hidden = pp_single_thread_tell();
        holds = libc_knows();
        if (was_hidden) {
            pp_single_thread_hide_again();
        }
    }
    bool shown = libc_knows() && !pp_single_thread_tell() && libc_knows();
    end(a);
    return holds && shown;
}

static bool threads_that_libc_knows_of_take_locks(asker *a)
{
    static asker b;
    const pp_pausable known = {.name = "known", .run = ask, .wake = wake, .context = &b};
    bool begun = pp_pausable_begin(&known) == 0;
    let_ask(a);
    while (__atomic_load_n(&a->permitted, __ATOMIC_ACQUIRE) == 0) {
    }
    bool at_once = a->refused == 0 && libc_knows();
    end(&b);
    end(a);
    return begun && at_once;
}

static void skip_if_it_does_not_say(void)
{
    if (libc_knows()) {
        skip();
    }
}

static void libc_does_not_know(void **state)
{
    (void)state;
    skip_if_it_does_not_say();
    assert_true(holds_in_child(is_hidden));
}

static void locks_wait_until_libc_knows(void **state)
{
    (void)state;
    skip_if_it_does_not_say();
    assert_true(holds_in_child(is_shown_to_a_program_that_runs));
    assert_true(holds_in_child(is_shown_while_the_identity_changes));
    assert_true(holds_in_child(is_shown_in_each_change_until_it_takes_locks));
    assert_true(holds_in_child(threads_that_libc_knows_of_take_locks));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(libc_does_not_know),
        cmocka_unit_test(locks_wait_until_libc_knows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
