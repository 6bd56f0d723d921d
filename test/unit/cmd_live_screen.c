/* SPDX-License-Identifier: MIT
 *
 * cmd_live_screen.c: lines in the columns of a terminal, and the bytes that draw a screen.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "live/live_screen.h"
#include "profile/protobuf.h"

#include <string.h>

static void expect_bytes(cp_bytes *bytes, const char *expected)
{
    cp_bytes_append(bytes, "", 1);
    assert_string_equal((const char *)bytes->data, expected);
    cp_bytes_release(bytes);
}

static void expect_clip(const char *line, unsigned columns, const char *expected, unsigned used)
{
    cp_bytes bytes = {0};

    assert_int_equal(cp_live_clip(line, strlen(line), columns, &bytes), used);
    expect_bytes(&bytes, expected);
}

static void a_character_takes_its_columns(void **state)
{
    (void)state;
    assert_int_equal(cp_columns_of("a", 1), 1);
    assert_int_equal(cp_columns_of("\u00e4", 2), 1);
    assert_int_equal(cp_columns_of("\u6f22", 3), 2);
    assert_int_equal(cp_columns_of("\U0001f600", 4), 2);
    assert_int_equal(cp_columns_of("\u0301", 2), 0); /* on the character before */
    assert_int_equal(cp_columns_of("\u2026", 3), 1);
}

static void a_line_that_fits_is_whole(void **state)
{
    (void)state;
    expect_clip("main", 4, "main", 4);
    expect_clip("", 4, "", 0);
    expect_clip("\u6f22\u5b57", 4, "\u6f22\u5b57", 4);
    expect_clip("e\u0301", 1, "e\u0301", 1);
}

static void a_line_that_does_not_ends_in_an_ellipsis(void **state)
{
    (void)state;
    expect_clip("namespace::function", 10, "namespace\u2026", 10);
    expect_clip("main", 1, "\u2026", 1);
    expect_clip("main", 0, "", 0);
    expect_clip("\u6f22\u5b57\u6f22", 4, "\u6f22\u2026", 3); /* half a character is none */
}

static void colours_take_no_columns(void **state)
{
    (void)state;
    expect_clip("\033[31m12%\033[m", 3, "\033[31m12%\033[m", 3);
    expect_clip("\033[1mheading", 4, "\033[1mhea\u2026", 4);
}

static void a_name_cannot_steer_the_terminal(void **state)
{
    (void)state;
    expect_clip("a\033[2Jb", 10, "a?[2Jb", 6);
    expect_clip("a\033]0;title\007", 20, "a?]0;title?", 11);
    expect_clip("a\rb\tc\177", 10, "a?b?c?", 6);
    expect_clip("a\xc2\x9b"
                "1m",
                10, "a?1m", 4); /* U+009B begins a sequence, as Escape [ does */
    expect_clip("a\xff\xc3", 10, "a\ufffd\ufffd", 3);
    expect_clip("\033", 10, "?", 1);
    expect_clip("\033[3", 10, "?[3", 3);
}

static void a_screen_is_drawn_row_by_row(void **state)
{
    const cp_live_frame frame = {"head\n", "one\ntwo\n", "foot\n"};
    cp_bytes bytes = {0};

    (void)state;
    cp_live_paint(&frame, (cp_live_size){5, 10}, 0, &bytes);
    expect_bytes(&bytes, "\033[Hhead\033[m\033[K\r\none\033[m\033[K\r\ntwo\033[m\033[K\r\n\033[m"
                         "\033[K\r\nfoot\033[m\033[K");
}

static void rows_that_do_not_fit_are_left_out(void **state)
{
    const cp_live_frame frame = {"head\n", "one\ntwo\nthree\n", "foot\n"};
    cp_bytes bytes = {0};

    (void)state;
    assert_int_equal(cp_live_room(&frame, (cp_live_size){3, 10}), 1);
    cp_live_paint(&frame, (cp_live_size){3, 10}, 1, &bytes);
    expect_bytes(&bytes, "\033[Hhead\033[m\033[K\r\ntwo\033[m\033[K\r\nfoot\033[m\033[K");
}

static void a_line_that_fills_its_row_is_not_erased(void **state)
{
    const cp_live_frame frame = {"head\n", "", "foot\n"};
    cp_bytes bytes = {0};

    (void)state;
    cp_live_paint(&frame, (cp_live_size){2, 4}, 0, &bytes);
    expect_bytes(&bytes, "\033[Hhead\033[m\r\nfoot\033[m");
}

static void a_screen_may_be_tiny(void **state)
{
    const cp_live_frame frame = {"head\nmore\n", "one\n", "foot\n"};
    cp_bytes bytes = {0};

    (void)state;
    cp_live_paint(&frame, (cp_live_size){2, 9}, 0, &bytes);
    expect_bytes(&bytes, "\033[Hhead\033[m\033[K\r\nfoot\033[m\033[K");
    assert_int_equal(cp_live_room(&frame, (cp_live_size){1, 1}), 0);
    cp_live_paint(&frame, (cp_live_size){1, 1}, 7, &bytes);
    expect_bytes(&bytes, "\033[H\u2026\033[m");
}

static void a_plain_print_has_whole_lines(void **state)
{
    const cp_live_frame frame = {"head\n", "one\ntwo\nthree\n", "foot\n"};
    cp_bytes bytes = {0};

    (void)state;
    assert_int_equal(cp_live_lines(frame.body), 3);
    cp_live_print(&frame, 1, 1, &bytes);
    expect_bytes(&bytes, "head\ntwo\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_character_takes_its_columns),
        cmocka_unit_test(a_line_that_fits_is_whole),
        cmocka_unit_test(a_line_that_does_not_ends_in_an_ellipsis),
        cmocka_unit_test(colours_take_no_columns),
        cmocka_unit_test(a_name_cannot_steer_the_terminal),
        cmocka_unit_test(a_screen_is_drawn_row_by_row),
        cmocka_unit_test(rows_that_do_not_fit_are_left_out),
        cmocka_unit_test(a_line_that_fills_its_row_is_not_erased),
        cmocka_unit_test(a_screen_may_be_tiny),
        cmocka_unit_test(a_plain_print_has_whole_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
