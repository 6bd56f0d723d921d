/* SPDX-License-Identifier: MIT
 *
 * cmd_newest_profile.c: which file of a folder is taken for the newest profile.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "verbs/default_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/newest-XXXXXX";

/* Makes a file that was changed at that second. */
static void make(const char *name, time_t second)
{
    const struct timespec times[] = {{second, 0}, {second, 0}};
    int fd = open(name, O_WRONLY | O_CREAT, 0600);

    assert_true(fd >= 0);
    assert_int_equal(futimens(fd, times), 0);
    close(fd);
}

static void expect_newest(const char *expected)
{
    char *found = cp_newest_profile();

    assert_string_equal(found, expected);
    free(found);
}

static void the_file_that_was_changed_last_is_taken(void **state)
{
    (void)state;
    assert_null(cp_newest_profile());
    make("old.pb.gz", 1000);
    expect_newest("old.pb.gz");
    make("new.pb.gz", 2000);
    expect_newest("new.pb.gz");
    make("another.pb.gz", 2000);
    expect_newest("another.pb.gz");
}

static void other_files_are_left_alone(void **state)
{
    (void)state;
    make("text.gz", 3000);
    make(".hidden.pb.gz", 3000);
    make(".pb.gz", 3000);
    assert_int_equal(mkdir("folder.pb.gz", 0700), 0);
    assert_int_equal(symlink("nowhere", "link.pb.gz"), 0);
    expect_newest("another.pb.gz");
}

static int enter_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"old.pb.gz",     "new.pb.gz", "another.pb.gz", "text.gz",
                                        ".hidden.pb.gz", ".pb.gz",    "link.pb.gz"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        unlink(names[i]);
    }
    rmdir("folder.pb.gz");
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_that_was_changed_last_is_taken),
        cmocka_unit_test(other_files_are_left_alone),
    };

    return cmocka_run_group_tests(tests, enter_folder, remove_folder);
}
