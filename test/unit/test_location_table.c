/* SPDX-License-Identifier: MIT
 *
 * test_location_table.c: addresses keep their ids through growth, whatever their low bits are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "encode/location_table.h"
#include "mmap_fault.h"

enum { ADDRESSES = 30000 };

static void ids_are_dense_and_stable(void **state)
{
    (void)state;
    const uintptr_t steps[] = {1, 16, 4096, (uintptr_t)1 << 32, (uintptr_t)1 << 49};
    for (size_t s = 0; s < sizeof(steps) / sizeof(steps[0]); s++) {
        uint32_t count = steps[s] >> 49 ? 1u << 15 : ADDRESSES;
        pp_arena arena = PP_ARENA_INIT;
        pp_location_table table;
        pp_location_table_init(&table, &arena);
        for (int pass = 0; pass < 2; pass++) {
            for (uint32_t i = 0; i < count; i++)
                assert_int_equal(pp_location_table_id(&table, i * steps[s]), i + 1);
        }
        assert_int_equal(table.count, count);
        for (uint32_t i = 0; i < count; i++) {
            assert_int_equal(table.locations[i].address, i * steps[s]);
            assert_int_equal(table.locations[i].mapping, 0);
            assert_int_equal(table.locations[i].function, 0);
        }
        assert_false(table.failed);
        pp_arena_release(&arena);
    }
}

static void the_ends_of_the_address_space(void **state)
{
    (void)state;
    pp_arena arena = PP_ARENA_INIT;
    pp_location_table table;
    pp_location_table_init(&table, &arena);
    assert_int_equal(pp_location_table_id(&table, 0), 1);
    assert_int_equal(pp_location_table_id(&table, UINTPTR_MAX), 2);
    assert_int_equal(pp_location_table_id(&table, 0), 1);
    assert_int_equal(pp_location_table_id(&table, UINTPTR_MAX), 2);
    pp_arena_release(&arena);
}

static void refused_memory_sticks(void **state)
{
    (void)state;
    needs_mmap_fault();
    for (long allowed = 0; allowed < 4; allowed++) {
        pp_arena arena = PP_ARENA_INIT;
        pp_location_table table;
        mappings_left = allowed;
        pp_location_table_init(&table, &arena);
        uint32_t known = 0;
        while (!table.failed) {
            uint32_t id = pp_location_table_id(&table, known * 8);
            assert_int_equal(id, table.failed ? 0 : known + 1);
            known++;
        }
        mappings_left = LONG_MAX;
        assert_int_equal(pp_location_table_id(&table, 1), 0);
        pp_arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_dense_and_stable),
        cmocka_unit_test(the_ends_of_the_address_space),
        cmocka_unit_test(refused_memory_sticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
