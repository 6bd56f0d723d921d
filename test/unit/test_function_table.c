/* SPDX-License-Identifier: MIT
 *
 * test_function_table.c: what makes two functions one, and that growing keeps their numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "encode/function_table.h"

static uint32_t id_of(pp_function_table *table, uint32_t name, uint32_t file, uint32_t start_line)
{
    return pp_function_table_id(table, &(pp_function){name, file, start_line});
}

static void functions_differ_in_name_file_and_start(void **state)
{
    (void)state;
    pp_arena arena = PP_ARENA_INIT;
    pp_function_table table;
    pp_function_table_init(&table, &arena);
    assert_int_equal(id_of(&table, 5, 0, 0), 1);
    assert_int_equal(id_of(&table, 5, 6, 0), 2);
    assert_int_equal(id_of(&table, 6, 5, 0), 3);
    assert_int_equal(id_of(&table, 5, 6, 10), 4);
    assert_int_equal(id_of(&table, 5, 0, 0), 1);
    assert_int_equal(id_of(&table, 5, 6, 10), 4);
    assert_int_equal(table.count, 4);
    assert_int_equal(table.functions[3].start_line, 10);
    pp_arena_release(&arena);
}

static void numbers_stay_when_it_grows(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    pp_arena arena = PP_ARENA_INIT;
    pp_function_table table;
    pp_function_table_init(&table, &arena);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < MANY; i++) {
            assert_int_equal(id_of(&table, i / 7, i % 7, i % 2), i + 1);
        }
    }
    for (uint32_t i = 0; i < MANY; i++) {
        assert_int_equal(table.functions[i].name, i / 7);
        assert_int_equal(table.functions[i].file, i % 7);
    }
    pp_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_differ_in_name_file_and_start),
        cmocka_unit_test(numbers_stay_when_it_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
