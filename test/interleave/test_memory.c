/* SPDX-License-Identifier: MIT
 *
 * test_memory.c: a mapping that is listed has its own size, while another one takes its place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.c"
#include "interleave/scenario.h"

enum { FIRST = 0x10000, FIRST_BYTES = 0x1000, SECOND = 0x20000, SECOND_BYTES = 0x2000 };

static void list_first(void)
{
    list(FIRST, FIRST_BYTES);
}

static void exchange(void)
{
    unlist(FIRST);
    list(SECOND, SECOND_BYTES);
}

static void check(uintptr_t start, size_t bytes, void *unused)
{
    (void)unused;
    MODEL_CHECK(start == FIRST ? bytes == FIRST_BYTES : start == SECOND && bytes == SECOND_BYTES);
}

static void read_list(void)
{
    pp_memory_each(check, NULL);
}

static const model_scenario listing = {"listing", list_first, {exchange, read_list}, NULL};

static void no_size_is_of_another_mapping(void **state)
{
    (void)state;
    assert_holds(&listing);
    assert_is_caught(&listing, "unlist", MODEL_STORE, __ATOMIC_RELAXED);
    assert_is_caught(&listing, "list", MODEL_STORE, __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_size_is_of_another_mapping),
    };
    read_bounds(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
