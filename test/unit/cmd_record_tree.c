/* SPDX-License-Identifier: MIT
 *
 * cmd_record_tree.c: what is left of a process's children, without what the followed ones told, is
 * the time of the others. Ids that are used again, orphans and messages of strangers do no harm.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "record/record_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* No system has processes with such ids. */
enum { COMMAND = 90000001, A, B, C, D };

static cp_tree tree;

static int begin(void **state)
{
    (void)state;
    cp_tree_init(&tree);
    cp_tree_command(&tree, COMMAND, "/bin/command");
    return 0;
}

static int release(void **state)
{
    (void)state;
    cp_tree_release(&tree);
    return 0;
}

/* Times are in milliseconds. */
static void tell(const char *event, pid_t pid, pid_t parent, unsigned stamp, unsigned own,
                 unsigned children, const char *name)
{
    char message[256];
    int length =
        snprintf(message, sizeof message, "libpprof-process 1 %s %d %d %u %u000000 %u000000 %s",
                 event, (int)pid, (int)parent, stamp, own, children, name);

    assert_true(cp_tree_take_message(&tree, message, (size_t)length));
}

static void assert_missing(double seconds, const char *expected)
{
    char text[4096];
    char path[] = "/tmp/cmd_record_tree-XXXXXX";
    int file = mkstemp(path), own = dup(STDERR_FILENO);

    assert_true(file >= 0 && own >= 0);
    fflush(stderr);
    dup2(file, STDERR_FILENO);
    cp_tree_say_missing(&tree, seconds);
    fflush(stderr);
    dup2(own, STDERR_FILENO);
    ssize_t length = pread(file, text, sizeof text - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    close(own);
    close(file);
    unlink(path);
    assert_string_equal(text, expected);
}

static void nobody_is_missing_if_all_have_told(void **state)
{
    (void)state;
    tell("begins", COMMAND, 1, 10, 0, 0, "command");
    tell("begins", A, COMMAND, 20, 0, 0, "a b");
    tell("begins", B, A, 20, 0, 0, "a b");
    tell("ends", B, A, 20, 300, 0, "a b");
    tell("ends", A, COMMAND, 20, 200, 301, "a b");
    tell("ends", COMMAND, 1, 10, 100, 505, "command");
    assert_missing(0.61, "");
    assert_int_equal(cp_tree_followed(&tree), 3);
    assert_string_equal(cp_tree_name(&tree, A, 20), "a b");
    assert_null(cp_tree_name(&tree, A, 21));
}

static void the_rest_is_that_of_the_others(void **state)
{
    (void)state;
    tell("begins", COMMAND, 1, 10, 0, 0, "command");
    tell("static", A, COMMAND, 10, 0, 0, "still");
    tell("begins", B, A, 20, 0, 0, "below");
    tell("ends", B, A, 20, 400, 0, "below");
    tell("begins", C, COMMAND, 30, 0, 0, "dies");
    tell("ends", COMMAND, 1, 10, 100, 2400, "command");
    assert_missing(2.5, "cpprof: not in the profile: 2 processes, still (statically linked), dies "
                        "(ended without writing, as by SIGKILL), at most 2.00 s of CPU time\n");
}

static void what_a_process_told_before_it_was_confined_counts(void **state)
{
    (void)state;
    tell("begins", COMMAND, 1, 10, 0, 0, "command");
    tell("begins", A, COMMAND, 20, 0, 0, "careful");
    tell("confined", A, COMMAND, 20, 700, 0, "careful");
    tell("ends", COMMAND, 1, 10, 100, 1000, "command");
    assert_missing(1.1,
                   "cpprof: not in the profile: careful (after it has set a seccomp filter), at "
                   "most 0.30 s of CPU time\n");
}

static void a_program_under_a_filter_need_not_tell(void **state)
{
    (void)state;
    tell("begins", COMMAND, 1, 10, 0, 0, "command");
    tell("begins", A, COMMAND, 20, 0, 0, "careful");
    tell("confined", A, COMMAND, 20, 700, 0, "careful");
    tell("ends", COMMAND, 1, 10, 100, 1000, "command");
    cp_tree_wrote(&tree, A, 20);
    cp_tree_wrote(&tree, A, 30);
    assert_missing(1.1, "");
}

static void orphans_are_in_nobodys_sum(void **state)
{
    (void)state;
    tell("begins", COMMAND, 1, 10, 0, 0, "command");
    tell("begins", A, COMMAND, 20, 0, 0, "daemon");
    tell("static", B, COMMAND, 20, 0, 0, "still");
    tell("ends", COMMAND, 1, 10, 100, 500, "command");
    tell("ends", A, 1, 20, 9000, 0, "daemon");
    assert_missing(
        0.6, "cpprof: not in the profile: still (statically linked), at most 0.50 s of CPU time\n");
}

static void a_command_that_tells_nothing_has_the_rest(void **state)
{
    (void)state;
    tell("begins", A, COMMAND, 20, 0, 0, "a");
    tell("ends", A, COMMAND, 20, 1000, 0, "a");
    assert_missing(3, "cpprof: not in the profile: command (does not load the library), at most "
                      "2.00 s of CPU time\n");
    cp_tree_wrote(&tree, COMMAND, 5); /* by a file */
    assert_missing(3, "");
}

static void an_id_is_used_again(void **state)
{
    (void)state;
    tell("begins", COMMAND, 1, 10, 0, 0, "command");
    for (unsigned i = 0; i < 200; i++) {
        tell("begins", A, COMMAND, 20 + i, 0, 0, "a");
        tell("executes", A, COMMAND, 20 + i, 1, 0, "b");
        tell("begins", A, COMMAND, 1000 + i, 1, 0, "b");
        tell("ends", A, COMMAND, 1000 + i, 2, 0, "b");
    }
    tell("ends", COMMAND, 1, 10, 100, 400, "command");
    assert_missing(0.5, "");
    assert_int_equal(cp_tree_followed(&tree), 201);
    assert_string_equal(cp_tree_name(&tree, A, 20), "a");
    assert_string_equal(cp_tree_name(&tree, A, 1199), "b");
}

static void what_nobody_has_named_is_said_if_it_is_much(void **state)
{
    (void)state;
    tell("begins", COMMAND, 1, 10, 0, 0, "command");
    tell("ends", COMMAND, 1, 10, 100, 2000, "command");
    assert_missing(2.1, "cpprof: not in the profile: at most 2.00 s of CPU time of processes whose "
                        "names are not known\n");
}

static void other_messages_are_not_taken(void **state)
{
    (void)state;
    static const char *const others[] = {
        "", "libpprof-part 1 7 100 1 cpu 0 last\n", "libpprof-process 1 ",
        "libpprof-process 1 begins 0 1 2 3 4 x", "libpprof-process 1 begins -5 1 2 3 4 x"};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_false(cp_tree_take_message(&tree, others[i], strlen(others[i])));
    }
    tell("dances", A, COMMAND, 20, 0, 0, "a"); /* of a later version */
    assert_int_equal(cp_tree_followed(&tree), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, release)
    const struct CMUnitTest tests[] = {
        TEST(nobody_is_missing_if_all_have_told),
        TEST(the_rest_is_that_of_the_others),
        TEST(what_a_process_told_before_it_was_confined_counts),
        TEST(a_program_under_a_filter_need_not_tell),
        TEST(orphans_are_in_nobodys_sum),
        TEST(a_command_that_tells_nothing_has_the_rest),
        TEST(an_id_is_used_again),
        TEST(what_nobody_has_named_is_said_if_it_is_much),
        TEST(other_messages_are_not_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
