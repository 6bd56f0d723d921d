/* SPDX-License-Identifier: MIT
 *
 * cmd_live_state.c: what keys change, and which view has which samples.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/message.h"
#include "live/live_keys.h"
#include "live/live_state.h"
#include "live/live_views.h"

#include <stdlib.h>
#include <string.h>

static const cp_live_state at_first = {.interval_ns = 1000000000};

static unsigned type(cp_live_state *state, const char *keys)
{
    unsigned needs = 0;

    for (; *keys; keys++) {
        needs = cp_live_press(state, (unsigned char)*keys);
    }
    return needs;
}

static void letters_choose_what_is_shown(void **unused)
{
    cp_live_state s = at_first;

    (void)unused;
    assert_int_equal(type(&s, "c"), CP_LIVE_TABLE | CP_LIVE_DRAW);
    assert_true(s.by_cum);
    assert_int_equal(type(&s, "c"), CP_LIVE_TABLE | CP_LIVE_DRAW);
    assert_false(s.by_cum);
    type(&s, "a");
    assert_true(s.since_start);
    assert_int_equal(type(&s, " "), CP_LIVE_TABLE | CP_LIVE_DRAW);
    assert_true(s.is_paused);
    assert_int_equal(type(&s, " "), CP_LIVE_TABLE | CP_LIVE_DRAW | CP_LIVE_ASK);
    assert_false(s.is_paused);
}

static void views_come_one_after_the_other(void **unused)
{
    cp_live_state s = at_first;

    (void)unused;
    s.first_row = 5;
    assert_int_equal(type(&s, "t"), CP_LIVE_TABLE | CP_LIVE_ASK | CP_LIVE_DRAW);
    assert_int_equal(s.view, 1);
    assert_int_equal(s.first_row, 0);
    cp_live_press(&s, CP_KEY_LEFT);
    cp_live_press(&s, CP_KEY_LEFT);
    assert_int_equal(s.view, CP_LIVE_VIEWS - 1);
    cp_live_press(&s, CP_KEY_RIGHT);
    assert_int_equal(s.view, 0);
    type(&s, "5");
    assert_string_equal(cp_live_views[s.view].title, "mutex");
    type(&s, "7");
    assert_string_equal(cp_live_views[s.view].title, "wall");
    type(&s, "089");
    assert_string_equal(cp_live_views[s.view].title, "wall");
}

static void intervals_have_steps_and_ends(void **unused)
{
    cp_live_state s = at_first;

    (void)unused;
    type(&s, "+");
    assert_int_equal(s.interval_ns, 2000000000);
    type(&s, "--");
    assert_int_equal(s.interval_ns, 500000000);
    type(&s, "------------");
    assert_int_equal(s.interval_ns, 100000000);
    type(&s, "++++++++++++++++++");
    assert_int_equal(s.interval_ns, 60000000000);
    s.interval_ns = 3000000000;
    type(&s, "-");
    assert_int_equal(s.interval_ns, 2000000000);
}

static void an_expression_is_typed_and_taken_back(void **unused)
{
    cp_live_state s = at_first;

    (void)unused;
    type(&s, "/qct");
    assert_true(s.is_typing);
    assert_false(s.quits);
    assert_string_equal(s.typed, "qct");
    assert_string_equal(s.focus, "");
    cp_live_press(&s, CP_KEY_ERASE);
    type(&s, "\u6f22");
    cp_live_press(&s, CP_KEY_ERASE); /* all bytes of the character */
    cp_live_press(&s, CP_KEY_UP);    /* nothing to type */
    assert_int_equal(cp_live_press(&s, CP_KEY_ENTER), CP_LIVE_TABLE | CP_LIVE_DRAW);
    assert_false(s.is_typing);
    assert_string_equal(s.focus, "qc");
    type(&s, "fx");
    cp_live_press(&s, CP_KEY_ESCAPE);
    assert_false(s.is_typing);
    assert_string_equal(s.focus, "qc");
    type(&s, "f\025\r"); /* Ctrl-U, Enter */
    assert_string_equal(s.focus, "");
}

static void a_long_expression_is_cut(void **unused)
{
    cp_live_state s = at_first;

    (void)unused;
    type(&s, "/");
    for (int i = 0; i < 1000; i++) {
        type(&s, "x");
    }
    assert_int_equal(strlen(s.typed), CP_LIVE_TEXT_BYTES - 1);
    for (int i = 0; i < 1000; i++) {
        cp_live_press(&s, CP_KEY_ERASE);
    }
    assert_string_equal(s.typed, "");
}

static void rows_scroll_within_the_table(void **unused)
{
    cp_live_state s = at_first;

    (void)unused;
    s.row_count = 30;
    s.room = 10;
    cp_live_press(&s, CP_KEY_UP);
    assert_int_equal(s.first_row, 0);
    cp_live_press(&s, CP_KEY_DOWN);
    assert_int_equal(s.first_row, 1);
    cp_live_press(&s, CP_KEY_PAGE_DOWN);
    assert_int_equal(s.first_row, 10);
    cp_live_press(&s, CP_KEY_END);
    assert_int_equal(s.first_row, 20);
    cp_live_press(&s, CP_KEY_DOWN);
    assert_int_equal(s.first_row, 20);
    cp_live_press(&s, CP_KEY_PAGE_UP);
    assert_int_equal(s.first_row, 11);
    s.row_count = 5;
    cp_live_limit_rows(&s);
    assert_int_equal(s.first_row, 0);
    cp_live_press(&s, CP_KEY_HOME);
    assert_int_equal(s.first_row, 0);
}

static void help_ends_at_any_key(void **unused)
{
    cp_live_state s = at_first;

    (void)unused;
    type(&s, "?");
    assert_true(s.shows_help);
    type(&s, "t");
    assert_false(s.shows_help);
    assert_int_equal(s.view, 0);
    type(&s, "hq");
    assert_true(s.quits);
}

static void quitting_has_several_keys(void **unused)
{
    (void)unused;
    for (const char *key = "qQ\003\004"; *key; key++) {
        cp_live_state s = at_first;
        cp_live_press(&s, *key);
        assert_true(s.quits);
    }
}

static void other_keys_do_nothing(void **unused)
{
    (void)unused;
    for (int key = 1; key < 512; key++) {
        cp_live_state s = at_first;
        if (!strchr("caqQtTfhQ/? +=-_\t\003\004", key) && key < 256 && (key < '1' || key > '7')) {
            cp_live_press(&s, key);
            assert_memory_equal(&s, &at_first, sizeof s);
        }
    }
}

static void a_view_has_profiles_and_types(void **unused)
{
    cp_error error;
    size_t view;

    (void)unused;
    assert_int_equal(cp_live_view_find(NULL, NULL, &view, &error), 0);
    assert_int_equal(view, 0);
    assert_int_equal(cp_live_view_find("heap", NULL, &view, &error), 0);
    assert_int_equal(view, 1);
    assert_int_equal(cp_live_view_find("cpu", NULL, &view, &error), 0);
    assert_int_equal(view, 0);
    assert_int_equal(cp_live_view_find("wall", NULL, &view, &error), 0);
    assert_string_equal(cp_live_views[view].profile, "wall");
    assert_int_equal(cp_live_view_find("wall", "cpu", &view, &error), -1);
    assert_int_equal(cp_live_view_find(NULL, "alloc_objects", &view, &error), 0);
    assert_int_equal(view, 2);
    assert_int_equal(cp_live_view_find("mutex", "contentions", &view, &error), 0);
    assert_int_equal(view, 4);
    assert_int_equal(cp_live_view_find("heap", "cpu", &view, &error), -1);
    assert_non_null(strstr(error.text, "heap with cpu"));
    assert_int_equal(cp_live_view_find("x", NULL, &view, &error), -1);
    assert_int_equal(cp_live_view_find(NULL, "space", &view, &error), -1);
}

static void a_view_shows_the_wanted_type_if_it_has_it(void **unused)
{
    char *type_of_heap = cp_live_view_type(&cp_live_views[1], "inuse_objects");
    char *type_of_block = cp_live_view_type(&cp_live_views[3], "inuse_objects");

    (void)unused;
    assert_string_equal(type_of_heap, "inuse_objects");
    assert_string_equal(type_of_block, "delay");
    free(type_of_heap);
    free(type_of_block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_choose_what_is_shown),
        cmocka_unit_test(views_come_one_after_the_other),
        cmocka_unit_test(intervals_have_steps_and_ends),
        cmocka_unit_test(an_expression_is_typed_and_taken_back),
        cmocka_unit_test(a_long_expression_is_cut),
        cmocka_unit_test(rows_scroll_within_the_table),
        cmocka_unit_test(help_ends_at_any_key),
        cmocka_unit_test(quitting_has_several_keys),
        cmocka_unit_test(other_keys_do_nothing),
        cmocka_unit_test(a_view_has_profiles_and_types),
        cmocka_unit_test(a_view_shows_the_wanted_type_if_it_has_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
