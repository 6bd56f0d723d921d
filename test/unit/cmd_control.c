/* SPDX-License-Identifier: MIT
 *
 * cmd_control.c: names of processes as sources, what the options of a process say, and what a
 * process may answer.
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
#include "profile/protobuf.h"

#include <stdlib.h>
#include <sys/socket.h>
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

/* What cpprof makes of an answer: its body, or the sentence that says what is wrong. */
static void assert_answer(const char *sent, const char *expected)
{
    cp_bytes body = {0};
    cp_error error;
    char request[256] = "";
    int ends[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(send(ends[1], sent, strlen(sent), 0), strlen(sent));
    shutdown(ends[1], SHUT_WR);
    int status = cp_control_ask(ends[0], "configure", "cpu,heap:1", 60, &body, &error);
    assert_true(recv(ends[1], request, sizeof request - 1, 0) > 0);
    assert_string_equal(request, "POST /control/configure HTTP/1.0\r\nContent-Length: 10\r\n\r\n"
                                 "cpu,heap:1");
    cp_bytes_append(&body, "", 1);
    assert_string_equal(status == 0 ? (const char *)body.data : error.text, expected);
    cp_bytes_release(&body);
    close(ends[1]);
}

static void an_answer_is_whole_and_of_http(void **unused)
{
    (void)unused;
    assert_answer("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\non cpu\n", "on cpu\n");
    assert_answer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", "");
    assert_answer("HTTP/1.1 400 Bad Request\r\nContent-Length: 7\r\n\r\nnone\33c\n",
                  "the process answered 400: none");
    assert_answer("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\non c", "expected 7 bytes, found 4");
    assert_answer("HTTP/1.1 200 OK\r\nContent-Le", "expected an answer of libpprof, found another");
    assert_answer("220 a mail server\r\n", "expected an answer of libpprof, found another");
    assert_answer("", "the process closed the connection");
    assert_answer(
        "404 16\nUnknown profile\n",
        "expected HTTP, found the protocol of an older libpprof: use the cpprof of that version");
}

/* A child of the process may have the connection, too: then it does not end. */
static void a_whole_answer_needs_no_end(void **unused)
{
    static const char sent[] = "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\non cpu\n";
    cp_bytes body = {0};
    cp_error error;
    int ends[2];
    (void)unused;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(send(ends[1], sent, sizeof sent - 1, 0), sizeof sent - 1);
    assert_int_equal(cp_control_ask(ends[0], "status", NULL, 2, &body, &error), 0);
    assert_int_equal(body.length, 7);
    cp_bytes_release(&body);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_have_numbers),
        cmocka_unit_test(options_have_values),
        cmocka_unit_test(a_chosen_port_is_not_known),
        cmocka_unit_test(this_process_is_described),
        cmocka_unit_test(an_answer_is_whole_and_of_http),
        cmocka_unit_test(a_whole_answer_needs_no_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
