/* SPDX-License-Identifier: MIT
 *
 * test_stops.c: what is counted when a walk ends, and the words of a profile's comment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unwind/stops.h"

static void every_end_is_counted_with_its_weight(void **state)
{
    (void)state;
    pp_stops stops = {.guessed_whole = 0};
    pp_stops read;
    for (unsigned stop = 0; stop < PP_STOP_COUNT; stop++) {
        pp_walk walk = {.stop = (pp_stop)stop};
        pp_stops_count(&stops, &walk, 10 + stop);
    }
    pp_stops_read(&stops, &read);
    for (unsigned stop = 0; stop < PP_STOP_COUNT; stop++) {
        assert_int_equal(read.count[stop], 10 + stop);
    }
    assert_int_equal(read.guessed_whole, 0);
}

static void only_whole_stacks_are_counted_as_guessed(void **state)
{
    (void)state;
    pp_stops stops = {.guessed_whole = 0};
    for (unsigned stop = 0; stop < PP_STOP_COUNT; stop++) {
        pp_walk walk = {.stop = (pp_stop)stop, .guessed = true};
        pp_stops_count(&stops, &walk, 3);
    }
    assert_int_equal(stops.guessed_whole, 3);
    assert_int_equal(stops.count[PP_STOP_END], 3);
}

static void parts_that_are_0_are_not_shown(void **state)
{
    (void)state;
    pp_stops stops = {.count = {[PP_STOP_END] = 3}};
    pp_text text = PP_TEXT_INIT;
    pp_text_add(&text, "libpprof: ");
    pp_stops_describe(&stops, " [block|blocks] sampled", &text);
    assert_string_equal(text.data, "libpprof: of 3 blocks sampled 3 have whole stacks");
}

static void every_part_has_its_words(void **state)
{
    (void)state;
    pp_stops stops = {.count = {[PP_STOP_END] = 100,
                                [PP_STOP_TRUNCATED] = 20,
                                [PP_STOP_NO_RULE] = 3,
                                [PP_STOP_BAD_READ] = 4},
                      .guessed_whole = 10};
    pp_text text = PP_TEXT_INIT;
    pp_stops_describe(&stops, " [sample|samples] taken", &text);
    assert_string_equal(text.data,
                        "of 127 samples taken 90 have whole stacks, 10 reached the end by a guess "
                        "at a frame without unwind information, 20 are deeper than the buffer, "
                        "3 end in code without unwind information, 4 end at an unreadable frame");
}

static void what_is_one_is_in_the_singular(void **state)
{
    (void)state;
    pp_stops stops = {.count = {[PP_STOP_END] = 1,
                                [PP_STOP_TRUNCATED] = 1,
                                [PP_STOP_NO_RULE] = 1,
                                [PP_STOP_BAD_READ] = 1}};
    pp_text text = PP_TEXT_INIT;
    pp_stops_describe(&stops, " [sample|samples] taken", &text);
    assert_string_equal(text.data,
                        "of 4 samples taken 1 has a whole stack, 1 is deeper than the buffer, "
                        "1 ends in code without unwind information, 1 ends at an unreadable frame");
    stops = (pp_stops){.count = {[PP_STOP_END] = 1}};
    text.length = 0;
    pp_stops_describe(&stops, " [sample|samples] taken", &text);
    assert_string_equal(text.data, "of 1 sample taken 1 has a whole stack");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_end_is_counted_with_its_weight),
        cmocka_unit_test(only_whole_stacks_are_counted_as_guessed),
        cmocka_unit_test(parts_that_are_0_are_not_shown),
        cmocka_unit_test(every_part_has_its_words),
        cmocka_unit_test(what_is_one_is_in_the_singular),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
