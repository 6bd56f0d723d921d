/* SPDX-License-Identifier: MIT
 *
 * test_string_table.c: equal texts get equal numbers, others new ones, in order, through growth.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "encode/string_table.h"
#include "mmap_fault.h"

#include <stdio.h>

enum { TEXTS = 20000 };

static char texts[2][TEXTS][12];

static void numbers_are_dense_and_stable(void **state)
{
    (void)state;
    pp_arena arena = PP_ARENA_INIT;
    pp_string_table table;
    pp_string_table_init(&table, &arena);
    for (int copy = 0; copy < 2; copy++) { /* equal texts at two places */
        for (uint32_t i = 0; i < TEXTS; i++) {
            int length = snprintf(texts[copy][i], sizeof(texts[copy][i]), "text %u", i);
            assert_int_equal(pp_string_table_index(&table, texts[copy][i], (size_t)length), i + 1);
        }
    }
    assert_int_equal(table.count, TEXTS + 1);
    for (uint32_t i = 0; i < TEXTS; i++) {
        assert_int_equal(table.strings[i + 1].length, strlen(texts[0][i]));
        assert_memory_equal(table.strings[i + 1].text, texts[0][i], strlen(texts[0][i]));
    }
    assert_false(table.failed);
    pp_arena_release(&arena);
}

static void entry_zero_is_empty(void **state)
{
    (void)state;
    pp_arena arena = PP_ARENA_INIT;
    pp_string_table table;
    pp_string_table_init(&table, &arena);
    assert_int_equal(table.count, 1);
    assert_int_equal(table.strings[0].length, 0);
    assert_int_equal(pp_string_table_index(&table, "", 0), 0);
    assert_int_equal(pp_string_table_index(&table, "ab", 1), 1);
    assert_int_equal(pp_string_table_index(&table, "ab", 2), 2);
    assert_int_equal(pp_string_table_index(&table, "a\0b", 3), 3);
    assert_int_equal(pp_string_table_index(&table, "a", 1), 1);
    pp_arena_release(&arena);
}

static void refused_memory_sticks(void **state)
{
    (void)state;
    needs_mmap_fault();
    for (long allowed = 0; allowed < 4; allowed++) {
        pp_arena arena = PP_ARENA_INIT;
        pp_string_table table;
        mappings_left = allowed;
        pp_string_table_init(&table, &arena);
        for (uint32_t i = 0; i < TEXTS && !table.failed; i++) {
            uint32_t index = pp_string_table_index(&table, texts[0][i], strlen(texts[0][i]));
            assert_int_equal(index, table.failed ? 0 : i + 1);
        }
        assert_true(table.failed);
        mappings_left = LONG_MAX;
        assert_int_equal(pp_string_table_index(&table, "late", 4), 0);
        pp_arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_dense_and_stable),
        cmocka_unit_test(entry_zero_is_empty),
        cmocka_unit_test(refused_memory_sticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
