/* SPDX-License-Identifier: MIT
 *
 * test_http_program.c: what one request for names can cost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/kind.h"
#include "modules/modules.h"

#include "pprof_http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const pp_kind *const pp_kinds[] = {NULL};

/* A function with a name of 1000 characters. */
#define TEN(x) x x x x x x x x x x
#define NAME   TEN(TEN(TEN("n")))

enum { CODE = 65536, NAME_BYTES = 1000, ANSWER_MAX = 32 << 20, ADDRESS_BYTES = 24 };

extern const char code_of_long_name[];

__asm__(".pushsection .text\n"
        "    .globl code_of_long_name\n"
        "    .hidden code_of_long_name\n"
        "    .type " NAME ", %function\n" NAME ":\n"
        "code_of_long_name:\n"
        "    .skip 65536\n"
        "    .size " NAME ", 65536\n"
        "    .popsection\n");

/* ---- requests ---- */

typedef struct received {
    int status;
    size_t length;
    char first[64], last[64];
} received;

static int begin_response(void *of_received, int status, const pprof_http_header *headers,
                          size_t count)
{
    (void)headers;
    (void)count;
    *(received *)of_received = (received){.status = status};
    return 0;
}

static int add(void *of_received, const void *data, size_t length)
{
    received *r = of_received;
    size_t part = length < sizeof r->last ? length : sizeof r->last;
    memcpy(r->last, (const char *)data + length - part, part);
    if (r->length == 0) {
        memcpy(r->first, data, part);
        r->first[sizeof r->first - 1] = '\0';
    }
    r->length += length;
    return 0;
}

/* Asks for `count` addresses of the function, each `step` after the one before. */
static received ask(size_t count, size_t step)
{
    char *body = malloc(count * ADDRESS_BYTES);
    size_t length = 0;
    received result = {.status = 0};
    assert_non_null(body);
    for (size_t i = 0; i < count; i++) {
        length += (size_t)snprintf(body + length, ADDRESS_BYTES, "+%#lx",
                                   (unsigned long)code_of_long_name + i * step);
    }
    const pprof_http_request request = {.size = sizeof request,
                                        .method = "POST",
                                        .target = "/debug/pprof/symbol",
                                        .body = body,
                                        .body_size = length};
    pprof_http_response response = {
        .size = sizeof response, .begin = begin_response, .write = add, .ctx = &result};
    assert_int_equal(pprof_http_handle(&request, &response), 0);
    free(body);
    return result;
}

/* ---- the tests ---- */

static const size_t begin_length = sizeof "num_symbols: 1\n" - 1;

static size_t line_length(void)
{
    char address[ADDRESS_BYTES];
    return (size_t)snprintf(address, sizeof address, "%#lx \n", (unsigned long)code_of_long_name) +
           NAME_BYTES;
}

static void each_address_has_its_name(void **state)
{
    (void)state;
    const received r = ask(3, 16);
    assert_int_equal(r.status, 200);
    assert_int_equal(r.length, begin_length + 3 * line_length());
}

static void an_address_is_answered_once(void **state)
{
    (void)state;
    const received r = ask(40000, 0);
    assert_int_equal(r.status, 200);
    assert_int_equal(r.length, begin_length + line_length());
}

static void names_that_take_too_much_are_refused(void **state)
{
    (void)state;
    const received r = ask(CODE / 2, 2);
    assert_int_equal(r.status, 200);
    assert_true(r.length > ANSWER_MAX - ANSWER_MAX / 32);
    const received more = ask(CODE / 2 + CODE / 8, 1);
    assert_int_equal(more.status, 413);
    assert_true(more.length < sizeof more.first * 2);
    assert_non_null(strstr(more.first, "longer than 32 MiB"));
}

static int set_up(void **state)
{
    (void)state;
    pp_modules_init();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_address_has_its_name),
        cmocka_unit_test(an_address_is_answered_once),
        cmocka_unit_test(names_that_take_too_much_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
