/* SPDX-License-Identifier: MIT
 *
 * test_key_sort.c: items in the order of their keys, equal ones in the order in which they were.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/key_sort.h"

enum { ITEMS = 1000 };

static pp_keyed items[ITEMS], spare[ITEMS];

static void assert_sorted(size_t count)
{
    for (size_t i = 1; i < count; i++) {
        assert_true(items[i - 1].key <= items[i].key);
        if (items[i - 1].key == items[i].key) {
            assert_true(items[i - 1].index < items[i].index);
        }
    }
}

/* Whether each item is there once, with the key that `mask` left of its hash. */
static void sort_hashes(size_t count, uint64_t mask)
{
    char seen[ITEMS] = {0};
    for (size_t i = 0; i < count; i++) {
        items[i] = (pp_keyed){(i + 1) * UINT64_C(0x9e3779b97f4a7c15) & mask, i};
    }
    pp_key_sort(items, spare, count);
    assert_sorted(count);
    for (size_t i = 0; i < count; i++) {
        size_t index = items[i].index;
        assert_true(index < count && !seen[index]);
        seen[index] = 1;
        assert_true(items[i].key == ((index + 1) * UINT64_C(0x9e3779b97f4a7c15) & mask));
    }
}

static void keys_of_every_width_are_sorted(void **state)
{
    (void)state;
    for (unsigned bits = 1; bits <= 64; bits++) {
        sort_hashes(ITEMS, UINT64_MAX >> (64 - bits));
    }
}

static void bytes_that_do_not_vary_are_left_out(void **state)
{
    (void)state;
    sort_hashes(ITEMS, UINT64_C(0xff00ff00ff00ff00));
    sort_hashes(ITEMS, UINT64_C(0x8000000000000001));
    sort_hashes(ITEMS, 0);
}

static void few_items_are_sorted(void **state)
{
    (void)state;
    for (size_t count = 0; count < 5; count++) {
        sort_hashes(count, UINT64_MAX);
    }
}

static void the_largest_key_comes_last(void **state)
{
    (void)state;
    items[0] = (pp_keyed){UINT64_MAX, 0};
    items[1] = (pp_keyed){0, 1};
    items[2] = (pp_keyed){UINT64_C(1) << 63, 2};
    pp_key_sort(items, spare, 3);
    assert_int_equal(items[0].index, 1);
    assert_int_equal(items[1].index, 2);
    assert_int_equal(items[2].index, 0);
}

static void the_last_up_to_a_key_is_found(void **state)
{
    (void)state;
    enum { COUNT = 5 };
    for (size_t i = 0; i < COUNT; i++) {
        items[i] = (pp_keyed){10 * (i + 1), i};
    }
    for (size_t count = 0; count <= COUNT; count++) {
        for (uint64_t most = 0; most < 10 * (COUNT + 2); most++) {
            size_t before = most / 10 < count ? most / 10 : count;
            const pp_keyed *found = pp_key_last_up_to(items, count, most);
            assert_ptr_equal(found, before > 0 ? &items[before - 1] : NULL);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_of_every_width_are_sorted),
        cmocka_unit_test(bytes_that_do_not_vary_are_left_out),
        cmocka_unit_test(few_items_are_sorted),
        cmocka_unit_test(the_largest_key_comes_last),
        cmocka_unit_test(the_last_up_to_a_key_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
