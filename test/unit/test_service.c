/* SPDX-License-Identifier: MIT
 *
 * test_service.c: the end of the server ends what it collects for its clients, also while its thread pauses because the
 * program changes its user.
 *
 * Sources: http/address.c http/mapped_bytes.c http/connection.c http/descriptor.c http/request.c http/token.c http/server.c http/service.c http/serve.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/kind.h"
#include "host/pausable.h"
#include "modules/modules.h"
#include "profile/model.h"
#include "sys/signal_mask.h"

#include "pprof_http.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

extern const unsigned char http_page_data[];
extern const size_t http_page_size;
const unsigned char http_page_data[1] = {0};
const size_t http_page_size = 0;

/* ---- a kind that has a rate ---- */

static int64_t rate;

static int build(pp_arena *arena, struct pp_profile *profile)
{
    (void)arena;
    *profile = (pp_profile){.sample_type_count = 1,
                            .sample_type = {{"contentions", "count"}},
                            .period_type = {"contentions", "count"},
                            .period = 1};
    return 0;
}

static int64_t set_rate(int64_t to)
{
    return to < 0 ? __atomic_load_n(&rate, __ATOMIC_ACQUIRE)
                  : __atomic_exchange_n(&rate, to, __ATOMIC_ACQ_REL);
}

static const pprof_profile profiles[] = {{.name = "block", .build = build, .set_rate = set_rate},
                                         {.name = NULL}};
static const pp_kind kind = {.name = "contention", .profiles = profiles};
const pp_kind *const pp_kinds[] = {&kind, NULL};

/* ---- a client ---- */

static struct sockaddr_un address = {.sun_family = AF_UNIX};

static int begin_collection(void)
{
    static const char request[] =
        "GET /debug/pprof/block?seconds=1000&rate=7 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(send(fd, request, sizeof request - 1, MSG_NOSIGNAL), sizeof request - 1);
    while (set_rate(PPROF_RATE_READ) != 7) {
        sched_yield();
    }
    return fd;
}

static void serve(void)
{
    char text[sizeof address.sun_path + 8];
    snprintf(text, sizeof text, "unix:%s", address.sun_path);
    assert_int_equal(pprof_http_serve(text), 0);
}

static void assert_is_closed(int fd)
{
    char byte;
    assert_true(recv(fd, &byte, 1, 0) <= 0);
    close(fd);
}

/* ---- the socket's file ---- */

static int removals, late_removals; /* late: nobody listens there any more */

int unlink(const char *path)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (strcmp(path, address.sun_path) == 0) {
        bool listens = connect(fd, (const struct sockaddr *)&address, sizeof address) == 0;
        removals++;
        late_removals += !listens;
    }
    close(fd);
    return unlinkat(AT_FDCWD, path, 0);
}

/* ---- the tests ---- */

static void the_end_ends_what_is_collected(void **state)
{
    (void)state;
    serve();
    int client = begin_collection();
    assert_int_equal(pprof_http_stop(), 0);
    assert_int_equal(set_rate(PPROF_RATE_READ), 0);
    assert_is_closed(client);
}

/* Else it may be another process's by then. */
static void the_file_goes_while_the_socket_listens(void **state)
{
    removals = late_removals = 0;
    the_end_ends_what_is_collected(state);
    assert_int_equal(removals, 1);
    assert_int_equal(late_removals, 0);
}

static void the_end_in_a_pause_does_so_too(void **state)
{
    pp_signal_mask old = 0;
    (void)state;
    serve();
    int client = begin_collection();
    pp_signals_block(&old);
    pp_pausables_stop();
    assert_int_equal(pprof_http_stop(), 0);
    assert_int_equal(set_rate(PPROF_RATE_READ), 0);
    assert_int_equal(access(address.sun_path, F_OK), -1);
    pp_pausables_go_on();
    pp_signals_restore(&old);
    assert_is_closed(client);
    the_end_ends_what_is_collected(state);
}

static int set_up(void **state)
{
    (void)state;
    pp_modules_init();
    snprintf(address.sun_path, sizeof address.sun_path, "/tmp/test_service.%d", (int)getpid());
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_end_ends_what_is_collected),
        cmocka_unit_test(the_end_in_a_pause_does_so_too),
        cmocka_unit_test(the_file_goes_while_the_socket_listens),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
