/* SPDX-License-Identifier: MIT
 *
 * test_connection.c: how long a client of libpprof-http may take, and requests that come together. The time is the test's
 * own: connections are told what time it is.
 *
 * Sources: http/address.c http/mapped_bytes.c http/connection.c http/descriptor.c http/request.c http/token.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../http/connection.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

enum { HEAD_S = 10, BODY_S = 30, WRITE_S = 30, IDLE_S = 30, LINGER_S = 2 };

static const char whole[] = "GET /debug/pprof/cmdline HTTP/1.1\r\nHost: localhost\r\n\r\n";
static const char head_of_post[] =
    "POST /debug/pprof/symbol HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n";

typedef struct fixture {
    connection c;
    connection_rules rules;
    int client;
    uint64_t start_ns;
} fixture;

/* What the clock shows once a request has begun. */
static uint64_t begun_ns;

static uint64_t read_clock(void)
{
    return begun_ns;
}

static int set_up(void **state)
{
    static fixture f;
    int ends[2];
    memset(&f, 0, sizeof f);
    f.c.socket = DESCRIPTOR_NONE;
    f.rules.now_ns = read_clock;
    f.start_ns = begun_ns = 1000 * SECOND;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    f.client = ends[1];
    connection_begin(&f.c, ends[0], f.start_ns, &f.rules);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    connection_end(&f->c);
    close(f->client);
    return 0;
}

/* ---- what happens to a connection ---- */

static void arrive(fixture *f, const char *text, uint64_t now_ns)
{
    assert_int_equal(send(f->client, text, strlen(text), 0), strlen(text));
    connection_go_on(&f->c, POLLIN, now_ns);
}

static void pass(fixture *f, uint64_t now_ns)
{
    connection_go_on(&f->c, 0, now_ns);
}

static void answer(fixture *f, uint64_t now_ns)
{
    connection_make_answer(&f->c);
    connection_send_answer(&f->c, now_ns);
}

/* What the client can read; "" if that is nothing. */
static const char *read_answer(const fixture *f)
{
    static char text[4096];
    ssize_t got = recv(f->client, text, sizeof text - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    return text;
}

/* Nothing happens until that time, and the state does not end before. */
static void assert_deadline(fixture *f, uint64_t at_ns)
{
    connection_state before = f->c.state;
    assert_int_equal(f->c.deadline_ns, at_ns);
    pass(f, at_ns - 1);
    assert_int_equal(f->c.state, before);
}

static void assert_408(fixture *f)
{
    const char *text = read_answer(f);
    assert_non_null(strstr(text, "HTTP/1.1 408 Request Timeout\r\n"));
    assert_non_null(strstr(text, "X-Go-Pprof: 1\r\n"));
    assert_non_null(strstr(text, "Connection: close\r\n"));
    assert_non_null(strstr(text, "the request did not arrive in time\n"));
    assert_int_equal(f->c.state, CONNECTION_LINGERS);
}

/* ---- reading ---- */

static void a_head_that_does_not_come_in_time_gets_408(void **state)
{
    fixture *f = *state;
    arrive(f, "GET /debug/", f->start_ns + SECOND);
    uint64_t late_ns = f->start_ns + (1 + HEAD_S) * SECOND;
    assert_deadline(f, late_ns);
    pass(f, late_ns);
    assert_408(f);
}

static void a_byte_now_and_then_does_not_help(void **state)
{
    fixture *f = *state;
    for (unsigned i = 0; i < HEAD_S; i++) {
        arrive(f, "x", f->start_ns + i * SECOND);
    }
    assert_int_equal(f->c.state, CONNECTION_READS);
    pass(f, f->start_ns + HEAD_S * SECOND);
    assert_408(f);
}

static void a_body_that_does_not_come_in_time_gets_408(void **state)
{
    fixture *f = *state;
    uint64_t head_ns = f->start_ns + 2 * SECOND;
    arrive(f, head_of_post, head_ns);
    arrive(f, "0x1+", head_ns + SECOND);
    assert_deadline(f, head_ns + BODY_S * SECOND);
    pass(f, head_ns + BODY_S * SECOND);
    assert_408(f);
}

static void a_client_that_says_nothing_gets_nothing(void **state)
{
    fixture *f = *state;
    assert_deadline(f, f->start_ns + HEAD_S * SECOND);
    pass(f, f->start_ns + HEAD_S * SECOND);
    assert_int_equal(f->c.state, CONNECTION_FREE);
    assert_string_equal(read_answer(f), "");
}

static void a_kept_connection_may_be_idle_longer(void **state)
{
    fixture *f = *state;
    uint64_t now_ns = f->start_ns + SECOND;
    arrive(f, whole, now_ns);
    assert_int_equal(f->c.state, CONNECTION_IS_DUE);
    answer(f, now_ns);
    assert_non_null(strstr(read_answer(f), "HTTP/1.1 200 OK\r\n"));
    assert_deadline(f, now_ns + IDLE_S * SECOND);
    pass(f, now_ns + IDLE_S * SECOND);
    assert_int_equal(f->c.state, CONNECTION_FREE);
}

static void an_answer_that_is_due_waits_without_a_limit(void **state)
{
    fixture *f = *state;
    arrive(f, whole, f->start_ns);
    pass(f, UINT64_MAX - 1);
    assert_int_equal(f->c.state, CONNECTION_IS_DUE);
}

static void a_collection_has_its_whole_time(void **state)
{
    fixture *f = *state;
    begun_ns = f->start_ns + SECOND / 2;
    arrive(f, "GET /debug/pprof/thread?seconds=2 HTTP/1.1\r\nHost: localhost\r\n\r\n", f->start_ns);
    assert_int_equal(f->c.state, CONNECTION_WAITS);
    assert_deadline(f, begun_ns + 2 * SECOND);
    pass(f, begun_ns + 2 * SECOND);
    assert_int_equal(f->c.state, CONNECTION_IS_DUE);
    answer(f, begun_ns + 2 * SECOND);
    assert_non_null(strstr(read_answer(f), "HTTP/1.1 200 OK\r\n"));
}

/* ---- requests that come together ---- */

/* poll() does not tell of bytes that were read already: nobody has to look at the connection again. */
static void a_request_that_came_with_the_one_before_is_due_at_once(void **state)
{
    static const char three[] = "GET /debug/pprof/cmdline HTTP/1.1\r\nHost: localhost\r\n\r\n"
                                "HEAD /debug/pprof/cmdline HTTP/1.1\r\nHost: localhost\r\n\r\n"
                                "GET /debug/pprof/cmdline HTTP/1.1\r\nHost: localhost\r\n\r\nGET /";
    fixture *f = *state;
    arrive(f, three, f->start_ns);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(f->c.state, CONNECTION_IS_DUE);
        answer(f, f->start_ns + i * SECOND);
        assert_non_null(strstr(read_answer(f), "HTTP/1.1 200 OK\r\n"));
    }
    assert_int_equal(f->c.state, CONNECTION_READS);
    assert_deadline(f, f->start_ns + (2 + HEAD_S) * SECOND);
    arrive(f, "debug/pprof/cmdline HTTP/1.1\r\nHost: localhost\r\n\r\n", f->start_ns + 3 * SECOND);
    assert_int_equal(f->c.state, CONNECTION_IS_DUE);
}

static void a_body_that_came_with_the_request_before_is_read(void **state)
{
    static const char first[] = "GET /debug/pprof/cmdline HTTP/1.1\r\nHost: localhost\r\n\r\n"
                                "POST /debug/pprof/symbol HTTP/1.1\r\nHost: localhost\r\n"
                                "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n0x1";
    fixture *f = *state;
    arrive(f, first, f->start_ns);
    answer(f, f->start_ns);
    assert_non_null(strstr(read_answer(f), "HTTP/1.1 100 Continue\r\n"));
    assert_int_equal(f->c.state, CONNECTION_READS);
    arrive(f, "+0GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n", f->start_ns);
    assert_int_equal(f->c.state, CONNECTION_IS_DUE);
    answer(f, f->start_ns);
    assert_non_null(strstr(read_answer(f), "num_symbols: 1\n"));
    assert_int_equal(f->c.state, CONNECTION_IS_DUE);
    answer(f, f->start_ns);
    assert_non_null(strstr(read_answer(f), "HTTP/1.1 404 "));
}

static void what_is_no_request_after_one_that_is_gets_400(void **state)
{
    fixture *f = *state;
    arrive(f, "GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\nnonsense\r\n\r\n", f->start_ns);
    answer(f, f->start_ns);
    const char *text = read_answer(f);
    assert_non_null(strstr(text, "HTTP/1.1 404 "));
    assert_non_null(strstr(text, "HTTP/1.1 400 "));
    assert_int_equal(f->c.state, CONNECTION_LINGERS);
}

/* A client may close its side after the last request. Only one that waits for a collection is taken
 * for gone. */
static void a_client_that_sends_no_more_gets_its_answers(void **state)
{
    fixture *f = *state;
    arrive(f, "GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
           f->start_ns);
    shutdown(f->client, SHUT_WR);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(connection_events(&f->c), 0);
        answer(f, f->start_ns);
        assert_non_null(strstr(read_answer(f), "HTTP/1.1 404 "));
    }
    connection_go_on(&f->c, POLLIN, f->start_ns);
    assert_int_equal(f->c.state, CONNECTION_FREE);
}

/* ---- writing ---- */

/* The client takes nothing, and the socket's buffer is smaller than the answer. */
static void begin_to_write(fixture *f)
{
    const int smallest = 1;
    static const char page[] = "GET /debug/pprof/ HTTP/1.1\r\nHost: localhost\r\n\r\n";
    assert_int_equal(setsockopt(f->c.socket.fd, SOL_SOCKET, SO_SNDBUF, &smallest, sizeof smallest),
                     0);
    arrive(f, page, f->start_ns);
    connection_make_answer(&f->c);
    while (f->c.out.length < 1 << 20) {
        bytes_append_text(&f->c.out, "more than any buffer takes\n");
    }
    connection_send_answer(&f->c, f->start_ns);
    assert_int_equal(f->c.state, CONNECTION_WRITES);
}

static void a_client_that_takes_nothing_is_left(void **state)
{
    fixture *f = *state;
    begin_to_write(f);
    uint64_t late_ns = f->start_ns + WRITE_S * SECOND;
    assert_deadline(f, late_ns);
    pass(f, late_ns);
    assert_int_equal(f->c.state, CONNECTION_FREE);
}

static void a_byte_that_gets_through_gives_more_time(void **state)
{
    fixture *f = *state;
    begin_to_write(f);
    uint64_t now_ns = f->start_ns + (WRITE_S - 1) * SECOND;
    while (*read_answer(f) != '\0') {
    }
    connection_go_on(&f->c, POLLOUT, now_ns);
    assert_int_equal(f->c.state, CONNECTION_WRITES);
    assert_deadline(f, now_ns + WRITE_S * SECOND);
}

static void a_client_that_does_not_close_is_closed(void **state)
{
    fixture *f = *state;
    arrive(f, "GET / HTTP/7.0\r\n\r\n", f->start_ns);
    assert_non_null(strstr(read_answer(f), "HTTP/1.1 505 "));
    assert_int_equal(f->c.state, CONNECTION_LINGERS);
    arrive(f, "more", f->start_ns + SECOND);
    assert_deadline(f, f->start_ns + LINGER_S * SECOND);
    pass(f, f->start_ns + LINGER_S * SECOND);
    assert_int_equal(f->c.state, CONNECTION_FREE);
}

/* ---- a child of the program ---- */

static void a_copy_of_the_socket_keeps_no_client_waiting(void **state)
{
    fixture *f = *state;
    char byte;
    int copy = dup(f->c.socket.fd);
    arrive(f, head_of_post, f->start_ns);
    connection_end(&f->c);
    assert_int_equal(recv(f->client, &byte, 1, 0), 0);
    close(copy);
}

static void a_child_leaves_the_client_to_the_parent(void **state)
{
    fixture *f = *state;
    int parent = dup(f->c.socket.fd);
    arrive(f, head_of_post, f->start_ns);
    connection_forget(&f->c);
    assert_int_equal(f->c.state, CONNECTION_FREE);
    assert_int_equal(send(parent, "answer", 6, MSG_NOSIGNAL), 6);
    assert_string_equal(read_answer(f), "answer");
    close(parent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_head_that_does_not_come_in_time_gets_408, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_byte_now_and_then_does_not_help, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_body_that_does_not_come_in_time_gets_408, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_client_that_says_nothing_gets_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_kept_connection_may_be_idle_longer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_answer_that_is_due_waits_without_a_limit, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_collection_has_its_whole_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_request_that_came_with_the_one_before_is_due_at_once,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_body_that_came_with_the_request_before_is_read, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_request_after_one_that_is_gets_400, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_client_that_sends_no_more_gets_its_answers, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_client_that_takes_nothing_is_left, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_byte_that_gets_through_gives_more_time, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_client_that_does_not_close_is_closed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_copy_of_the_socket_keeps_no_client_waiting, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_child_leaves_the_client_to_the_parent, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
