/* SPDX-License-Identifier: MIT
 *
 * cmd_id_table.c: ids that count from 1, ids that are addresses, and both in one table.
 */
#include "cmd_builder.h"

#include "profile/id_table.h"

#define COUNT 6

/* 2 * COUNT is the last id that is small, 2 * COUNT + 1 the first one that is not. */
static const uint64_t ids[COUNT] = {1,          2 * COUNT, 2 * COUNT + 1, UINT64_C(0x7f0000001000),
                                    UINT64_MAX, 3};

static void every_id_is_found(void **state)
{
    static const uint8_t nothing[1];
    cp_error error;
    cp_wire wire;
    cp_ids table;

    (void)state;
    cp_wire_init(&wire, nothing, 0, &error);
    cp_ids_init(&table, COUNT, "thing");
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_true(cp_ids_add(&table, &wire, 0, ids[i], i));
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t index = COUNT;
        assert_true(cp_ids_find(&table, &wire, 0, ids[i], &index));
        assert_int_equal(index, i);
    }
    cp_ids_release(&table);
}

/* Adds the id 3 and, if there is one, the id `also`. */
static void expect_absent(uint64_t also, uint64_t id, const char *complaint)
{
    static const uint8_t nothing[1];
    cp_error error = {""};
    cp_wire wire;
    cp_ids table;
    uint32_t index;

    cp_wire_init(&wire, nothing, 0, &error);
    cp_ids_init(&table, 2, "thing");
    assert_true(cp_ids_add(&table, &wire, 0, 3, 0));
    if (also) {
        assert_true(cp_ids_add(&table, &wire, 0, also, 1));
    }
    assert_false(cp_ids_find(&table, &wire, 9, id, &index));
    assert_string_equal(error.text, complaint);
    cp_ids_release(&table);
}

static void other_ids_are_not_found(void **state)
{
    (void)state;
    expect_absent(0, 0, "byte 9: expected the id of a thing, found 0, which none has");
    expect_absent(0, 1, "byte 9: expected the id of a thing, found 1, which none has");
    expect_absent(0, 100, "byte 9: expected the id of a thing, found 100, which none has");
    expect_absent(100, 0, "byte 9: expected the id of a thing, found 0, which none has");
    expect_absent(100, 2, "byte 9: expected the id of a thing, found 2, which none has");
    expect_absent(100, 101, "byte 9: expected the id of a thing, found 101, which none has");
}

static void expect_refused(uint64_t id, const char *complaint)
{
    static const uint8_t nothing[1];
    cp_error error = {""};
    cp_wire wire;
    cp_ids table;

    cp_wire_init(&wire, nothing, 0, &error);
    cp_ids_init(&table, 2, "thing");
    cp_ids_add(&table, &wire, 0, 1, 0);
    cp_ids_add(&table, &wire, 0, 100, 1);
    assert_false(cp_ids_add(&table, &wire, 9, id, 2));
    assert_string_equal(error.text, complaint);
    cp_ids_release(&table);
}

static void second_ids_are_refused(void **state)
{
    (void)state;
    expect_refused(0, "byte 9: expected a thing with an id, found id 0");
    expect_refused(1, "byte 9: expected a new thing id, found 1 for the second time");
    expect_refused(100, "byte 9: expected a new thing id, found 100 for the second time");
}

/* An id for which the sum of the low half and a multiple of the high one is 0. */
static uint64_t chosen(uint64_t high)
{
    enum { MASK = (1 << 21) - 1 };

    return high << 32 | ((0 - high * 0x9e3779b97f4a7c15u) & MASK);
}

/* A million ids on one slot would take an hour. */
static void chosen_ids_are_spread(void **state)
{
    enum { MANY = 1000000 };
    static const uint8_t nothing[1];
    cp_error error;
    cp_wire wire;
    cp_ids table;
    uint32_t index = 0;

    (void)state;
    cp_wire_init(&wire, nothing, 0, &error);
    cp_ids_init(&table, MANY, "thing");
    for (uint32_t i = 0; i < MANY; i++) {
        assert_true(cp_ids_add(&table, &wire, 0, chosen(i + 1), i));
    }
    assert_true(cp_ids_find(&table, &wire, 0, chosen(7), &index));
    assert_int_equal(index, 6);
    cp_ids_release(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_id_is_found),
        cmocka_unit_test(other_ids_are_not_found),
        cmocka_unit_test(second_ids_are_refused),
        cmocka_unit_test(chosen_ids_are_spread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
