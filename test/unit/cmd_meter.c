/* SPDX-License-Identifier: MIT
 *
 * cmd_meter.c: the line with the progress of long work, on a terminal of the test's own.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/meter.h"

#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs `work` in a child that has the terminal, and returns what the terminal shows. */
static void show(void (*work)(void), const char *terminal, char *text, size_t size)
{
    size_t length = 0;
    int fd;
    pid_t child = forkpty(&fd, NULL, NULL, NULL);

    assert_true(child >= 0);
    if (child == 0) {
        setenv("TERM", terminal, 1);
        work();
        _exit(0);
    }
    for (ssize_t got; (got = read(fd, text + length, size - 1 - length)) > 0;) {
        length += (size_t)got;
    }
    text[length] = '\0';
    close(fd);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void work_for_long(void)
{
    cp_meter meter;

    cp_meter_begin(&meter, "reading", "files");
    cp_meter_step(&meter, 1, 1000);
    meter.next_ns = 0;
    cp_meter_step(&meter, 312, 1000);
    cp_meter_step(&meter, 313, 1000);
    meter.next_ns = 0;
    cp_meter_step(&meter, 400, 0);
    cp_meter_end(&meter);
}

static void work_briefly(void)
{
    cp_meter meter;

    cp_meter_begin(&meter, "reading", "files");
    meter.next_ns = INT64_MAX;
    cp_meter_step(&meter, 1, 1000);
    cp_meter_end(&meter);
}

static void long_work_has_a_line_that_goes_away(void **state)
{
    char text[512];

    (void)state;
    show(work_for_long, "xterm", text, sizeof text);
    const char *second = strstr(text, "\r\033[Kcpprof: reading: 400 files");
    assert_non_null(strstr(text, "\r\033[Kcpprof: reading: 312 of 1000 files"));
    assert_non_null(second);
    assert_string_equal(second + strlen("\r\033[Kcpprof: reading: 400 files"), "\r\033[K");
}

static void brief_work_has_none(void **state)
{
    char text[512];

    (void)state;
    show(work_briefly, "xterm", text, sizeof text);
    assert_string_equal(text, "");
}

static void a_terminal_that_cannot_erase_gets_none(void **state)
{
    char text[512];

    (void)state;
    show(work_for_long, "dumb", text, sizeof text);
    assert_string_equal(text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_work_has_a_line_that_goes_away),
        cmocka_unit_test(brief_work_has_none),
        cmocka_unit_test(a_terminal_that_cannot_erase_gets_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
