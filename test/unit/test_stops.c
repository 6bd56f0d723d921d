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

/* A function with unwind tables, and an end of a stack in it. */
static void count_end_at(pp_stops *stops, uintptr_t pc, pp_reason why, uint64_t weight)
{
    pp_walk walk = {.pcs = &pc, .depth = 1, .why = why, .stop = pp_stop_of(why)};
    pp_stops_count(stops, &walk, weight);
}

static uintptr_t here(void)
{
    return (uintptr_t)&count_end_at + 2;
}

static void early_ends_are_counted_by_module_and_reason(void **state)
{
    (void)state;
    pp_stops stops = {.elsewhere = 0};
    pp_stops read;
    count_end_at(&stops, here(), PP_CFA_REGISTER, 2);
    count_end_at(&stops, here() + 1, PP_CFA_REGISTER, 3);
    count_end_at(&stops, here(), PP_NOT_COVERED, 4);
    count_end_at(&stops, 0x123456789abd, PP_NO_CODE, 5);
    count_end_at(&stops, here(), PP_ENDS, 6);
    count_end_at(&stops, here(), PP_GO_ON, 7);
    pp_stops_read(&stops, &read);
    assert_int_equal(read.place[0].count, 5);
    assert_int_equal(read.place[0].first, here());
    assert_int_equal(read.place[1].count, 4);
    assert_int_equal(read.place[2].count, 5);
    assert_int_equal(read.place[3].key, 0);
    assert_int_equal(read.elsewhere, 0);
}

static void a_full_table_counts_the_rest_together(void **state)
{
    (void)state;
    pp_stops stops = {.elsewhere = 0};
    for (unsigned why = PP_NO_CODE; why < PP_REASON_COUNT; why++) {
        count_end_at(&stops, 0x123456789abd, (pp_reason)why, 2);
    }
    assert_int_equal(stops.elsewhere, 2 * (PP_REASON_COUNT - PP_NO_CODE - PP_STOP_PLACES));
}

static void places_are_described_by_their_size(void **state)
{
    (void)state;
    static const pp_mapping mapping = {
        .start = 0x10000, .limit = 0x20000, .bias = 0x10000, .path = "/usr/lib/libx.so"};
    pp_stops stops = {.elsewhere = 0};
    for (unsigned why = PP_NO_TABLES; why <= PP_CFA_REGISTER; why++) {
        count_end_at(&stops, 0x11235, (pp_reason)why, why == PP_NOT_COVERED ? 90 : 1);
    }
    count_end_at(&stops, 0x7f0000001001, PP_NO_MODULE, 40);
    pp_text text = PP_TEXT_INIT;
    assert_true(pp_stops_describe_place(&stops, 0, &mapping, 1, &text));
    assert_string_equal(text.data, "90 stacks end in /usr/lib/libx.so, the first at 0x1234: no FDE "
                                   "of the module covers the address");
    text.length = 0;
    assert_true(pp_stops_describe_place(&stops, 1, &mapping, 1, &text));
    assert_string_equal(text.data, "40 stacks end in code that no file holds, the first at "
                                   "0x7f0000001000: code of no module (generated, or mapped by "
                                   "hand), and no frame pointer leads on");
    text.length = 0;
    assert_true(pp_stops_describe_place(&stops, 2, &mapping, 1, &text));
    assert_memory_equal(text.data, "1 stack ends in /usr/lib/libx.so, the first at 0x1234: ", 55);
    text.length = 0;
    assert_true(pp_stops_describe_place(&stops, PP_STOP_MAX_COMMENTS - 1, &mapping, 1, &text));
    assert_string_equal(text.data, "4 more stacks end early elsewhere");
    stops = (pp_stops){.elsewhere = 0};
    for (size_t rank = 0; rank < PP_STOP_MAX_COMMENTS; rank++) {
        assert_false(pp_stops_describe_place(&stops, rank, &mapping, 1, &text));
    }
}

static void every_reason_has_its_own_words(void **state)
{
    (void)state;
    for (unsigned a = 0; a < PP_REASON_COUNT; a++) {
        assert_non_null(pp_reason_text((pp_reason)a));
        for (unsigned b = 0; b < a; b++) {
            assert_string_not_equal(pp_reason_text((pp_reason)a), pp_reason_text((pp_reason)b));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_end_is_counted_with_its_weight),
        cmocka_unit_test(only_whole_stacks_are_counted_as_guessed),
        cmocka_unit_test(parts_that_are_0_are_not_shown),
        cmocka_unit_test(every_part_has_its_words),
        cmocka_unit_test(what_is_one_is_in_the_singular),
        cmocka_unit_test(early_ends_are_counted_by_module_and_reason),
        cmocka_unit_test(a_full_table_counts_the_rest_together),
        cmocka_unit_test(places_are_described_by_their_size),
        cmocka_unit_test(every_reason_has_its_own_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
