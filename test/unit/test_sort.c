/* SPDX-License-Identifier: MIT
 *
 * test_sort.c: against qsort() on random, ordered and equal items of several sizes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/sort.h"

enum { ITEMS_MAX = 2000 };

/* All bytes of an item decide, so that equal items are the same items. */
static int compare_bytes(const void *a, const void *b, void *context)
{
    return memcmp(a, b, *(const size_t *)context);
}

static size_t qsort_size;

static int compare_for_qsort(const void *a, const void *b)
{
    return memcmp(a, b, qsort_size);
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 16;
}

static void sorts_as_qsort_does(void **state)
{
    (void)state;
    static unsigned char items[ITEMS_MAX * PP_SORT_ITEM_MAX], expected[sizeof(items)];
    const size_t sizes[] = {1, 3, 8, 12, 16, 40, PP_SORT_ITEM_MAX};
    uint32_t seed = 1;
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        for (int round = 0; round < 40; round++) {
            size_t count = round < 10 ? (size_t)round : next_random(&seed) % ITEMS_MAX;
            uint32_t spread = round % 3 == 0 ? 2 : 256; /* few different items, or many */
            for (size_t i = 0; i < count * sizes[s]; i++)
                items[i] = (unsigned char)(next_random(&seed) % spread);
            memcpy(expected, items, sizeof(items));
            qsort_size = sizes[s];
            qsort(expected, count, sizes[s], compare_for_qsort);
            pp_sort_sized(items, count, sizes[s], compare_bytes, &qsort_size);
            assert_memory_equal(items, expected, sizeof(items));
        }
    }
}

static int compare_numbers(const void *a, const void *b, void *context)
{
    size_t *comparisons = context;
    ++*comparisons;
    uint64_t left, right;
    memcpy(&left, a, sizeof(left));
    memcpy(&right, b, sizeof(right));
    return left < right ? -1 : left > right;
}

static void ordered_input_is_no_worst_case(void **state)
{
    (void)state;
    static uint64_t items[ITEMS_MAX];
    for (int direction = 0; direction < 3; direction++) {
        for (size_t i = 0; i < ITEMS_MAX; i++)
            items[i] = direction == 0 ? i : direction == 1 ? ITEMS_MAX - i : 7;
        size_t comparisons = 0;
        pp_sort(items, ITEMS_MAX, sizeof(items[0]), compare_numbers, &comparisons);
        for (size_t i = 1; i < ITEMS_MAX; i++)
            assert_true(items[i - 1] <= items[i]);
        assert_in_range(comparisons, 1, 2 * ITEMS_MAX * 11); /* 2 n log2(n) */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_as_qsort_does),
        cmocka_unit_test(ordered_input_is_no_worst_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
