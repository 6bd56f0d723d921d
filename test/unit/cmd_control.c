/* SPDX-License-Identifier: MIT
 *
 * cmd_control.c: names of processes as sources, and what the options of a process say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ask/control.h"
#include "ask/control_target.h"
#include "base/message.h"

#include <stdlib.h>
#include <unistd.h>

static void assert_pid(const char *text, int expected, const char *expected_rest)
{
    const char *rest = "";
    cp_error error;
    int pid = 0;

    assert_int_equal(cp_control_pid(text, &pid, &rest, &error), 0);
    assert_int_equal(pid, expected);
    assert_string_equal(rest, expected_rest);
}

static void assert_no_pid(const char *text)
{
    const char *rest = "";
    cp_error error;
    int pid = 0;

    assert_int_equal(cp_control_pid(text, &pid, &rest, &error), -1);
    assert_ptr_equal(strstr(error.text, text), error.text);
}

static void processes_have_numbers(void **unused)
{
    (void)unused;
    assert_true(cp_control_is_process("pid:1"));
    assert_false(cp_control_is_process("pid.pb.gz"));
    assert_pid("pid:1234", 1234, "");
    assert_pid("1234", 1234, "");
    assert_pid("pid:1234/heap?seconds=1", 1234, "/heap?seconds=1");
    assert_no_pid("pid:");
    assert_no_pid("pid:0");
    assert_no_pid("pid:-1");
    assert_no_pid("pid: 1");
    assert_no_pid("pid:1x");
    assert_no_pid("pid:99999999999999999999");
}

static void assert_option(const char *options, const char *expected)
{
    char *value = cp_target_option(options, "control");

    if (expected) {
        assert_non_null(value);
        assert_string_equal(value, expected);
    } else {
        assert_null(value);
    }
    free(value);
}

static void options_have_values(void **unused)
{
    (void)unused;
    assert_option(NULL, NULL);
    assert_option("", NULL);
    assert_option("cpu,heap", NULL);
    assert_option("controlled", NULL);
    assert_option("file=control", NULL);
    assert_option("control", "");
    assert_option("cpu,control,heap", "");
    assert_option("cpu,control=/run/%p.sock,heap", "/run/%p.sock");
    assert_option("control:/a", "/a");
}

static void a_chosen_port_is_not_known(void **unused)
{
    (void)unused;
    char *known = cp_target_http("http=127.0.0.1:6060,cpu");
    char *chosen = cp_target_http("http=127.0.0.1:0");

    assert_string_equal(known, "127.0.0.1:6060");
    assert_string_equal(chosen, "127.0.0.1:(see its log)");
    assert_null(cp_target_http("cpu"));
    free(known);
    free(chosen);
}

static void this_process_is_described(void **unused)
{
    (void)unused;
    cp_target target;
    cp_error error;

    assert_int_equal(cp_target_read(getpid(), &target, &error), 0);
    assert_int_equal(target.inner_pid, getpid());
    assert_int_equal(target.user, geteuid());
    assert_false(target.has_users);
    assert_false(target.has_root);
    assert_true(cp_target_is_ours(&target));
    assert_int_equal(cp_target_read(0x7ffffff0, &target, &error), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_have_numbers),
        cmocka_unit_test(options_have_values),
        cmocka_unit_test(a_chosen_port_is_not_known),
        cmocka_unit_test(this_process_is_described),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
