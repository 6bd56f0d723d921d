/* SPDX-License-Identifier: MIT
 *
 * test_leak_profile.c: no place has lost more blocks than it has, also where blocks were freed after
 * the search.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* NOLINTNEXTLINE(bugprone-suspicious-include): for what is static there */
#include "kinds/heap/leak_profile.c"

static pp_heap_block block_of(uintptr_t pc)
{
    return pp_heap_block_find(&pc, 1, pc * UINT64_C(0x9e3779b97f4a7c15), 16, 1, NULL);
}

static row row_of(pp_heap_block block, uint64_t lost)
{
    return (row){
        .stack = pp_heap_block_bucket(block)->stack, .age_s = PP_HEAP_AGE_UNKNOWN, .lost = lost};
}

/* Its cell was another place's when the rows were made. */
static void a_place_without_blocks_has_as_many_as_it_lost(void **state)
{
    (void)state;
    pp_leak_block blocks[] = {{.record = block_of(1)}, {.record = block_of(1)}};
    pp_leaks leaks = {.blocks = {.list = blocks, .count = 2}};
    row list[] = {row_of(block_of(2), 1)};
    rows r = {.leaks = &leaks, .list = list, .count = 1};
    count_all(&r);
    assert_int_equal(list[0].lost, 1);
    assert_int_equal(list[0].all, 1);
}

static void others_of_the_place_count(void **state)
{
    (void)state;
    pp_leak_block blocks[] = {{.record = block_of(3)}, {.record = block_of(3)}};
    pp_leaks leaks = {.blocks = {.list = blocks, .count = 2}};
    row list[] = {row_of(block_of(3), 1)};
    rows r = {.leaks = &leaks, .list = list, .count = 1};
    count_all(&r);
    assert_int_equal(list[0].lost, 1);
    assert_int_equal(list[0].all, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_place_without_blocks_has_as_many_as_it_lost),
        cmocka_unit_test(others_of_the_place_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
