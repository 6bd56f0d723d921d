/* SPDX-License-Identifier: MIT
 *
 * test_text_stream.c: what goes in comes out, in pieces of some size; errors end it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "encode/text_stream.h"
#include "memory_writer.h"

static memory_writer sink;

static void begin(pp_text_stream *out)
{
    memory_writer_reset(&sink);
    pp_text_stream_init(out, memory_writer_of(&sink));
}

static void numbers(void **state)
{
    (void)state;
    pp_text_stream out;
    begin(&out);
    pp_text_stream_number(&out, 0);
    pp_text_stream_add(&out, " ");
    pp_text_stream_number(&out, INT64_MIN);
    pp_text_stream_add(&out, " ");
    pp_text_stream_number(&out, INT64_MAX);
    pp_text_stream_add(&out, " ");
    pp_text_stream_unsigned(&out, UINT64_MAX);
    pp_text_stream_add(&out, " ");
    pp_text_stream_hex(&out, 0);
    pp_text_stream_add(&out, " ");
    pp_text_stream_hex(&out, 0xabcdef0123456789);
    assert_int_equal(pp_text_stream_finish(&out), 0);
    const char *expected = "0 -9223372036854775808 9223372036854775807 18446744073709551615 0x0 "
                           "0xabcdef0123456789";
    assert_int_equal(sink.size, strlen(expected));
    assert_memory_equal(sink.data, expected, sink.size);
}

static void long_text_is_written_on_the_way(void **state)
{
    (void)state;
    enum { LINES = 100000 };
    pp_text_stream out;
    begin(&out);
    for (int i = 0; i < LINES; i++)
        pp_text_stream_add(&out, "0123456789\n");
    assert_in_range(sink.calls, 2, LINES / 100);
    assert_int_equal(pp_text_stream_finish(&out), 0);
    assert_int_equal(sink.size, LINES * 11);
    for (size_t i = 0; i < sink.size; i++)
        assert_int_equal(sink.data[i], "0123456789\n"[i % 11]);
}

static void nothing_is_written_for_nothing(void **state)
{
    (void)state;
    pp_text_stream out;
    begin(&out);
    assert_int_equal(pp_text_stream_finish(&out), 0);
    assert_int_equal(sink.calls, 0);
}

static void the_first_error_is_the_last_call(void **state)
{
    (void)state;
    for (long fail_at = 1; fail_at <= 3; fail_at++) {
        pp_text_stream out;
        begin(&out);
        sink.fail_at = fail_at;
        sink.error = -ENOSPC;
        for (int i = 0; i < 100000; i++)
            pp_text_stream_add(&out, "0123456789\n");
        assert_int_equal(pp_text_stream_finish(&out), -ENOSPC);
        assert_int_equal(sink.calls, fail_at);
        assert_false(sink.called_after_error);
    }
}

static void a_failure_keeps_the_rest_back(void **state)
{
    (void)state;
    pp_text_stream out;
    begin(&out);
    pp_text_stream_add(&out, "before");
    pp_text_stream_fail(&out, -ENOMEM);
    pp_text_stream_add(&out, "after");
    pp_text_stream_fail(&out, -EIO);
    assert_int_equal(pp_text_stream_finish(&out), -ENOMEM);
    assert_int_equal(sink.calls, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(long_text_is_written_on_the_way),
        cmocka_unit_test(nothing_is_written_for_nothing),
        cmocka_unit_test(the_first_error_is_the_last_call),
        cmocka_unit_test(a_failure_keeps_the_rest_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
