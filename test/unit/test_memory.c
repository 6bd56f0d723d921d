/* SPDX-License-Identifier: MIT
 *
 * test_memory.c: the list of the library's own mappings has what is mapped, and nothing else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"

enum { MANY = 600, BYTES = 1 << 16 };

typedef struct search {
    uintptr_t start;
    size_t bytes; /* 0: it is not in the list */
    size_t all;
} search;

static void look(uintptr_t start, size_t bytes, void *of_search)
{
    search *s = of_search;
    s->bytes = start == s->start ? bytes : s->bytes;
    s->all++;
}

static search find(const void *memory)
{
    search s = {.start = (uintptr_t)memory};
    pp_memory_each(look, &s);
    return s;
}

static void what_is_mapped_is_listed(void **state)
{
    (void)state;
    char *memory = pp_memory_map(BYTES);
    assert_int_equal(find(memory).bytes, BYTES);
    char *larger = pp_memory_resize(memory, BYTES, 16 * BYTES);
    assert_int_equal(find(larger).bytes, 16 * BYTES);
    if (larger != memory) {
        assert_int_equal(find(memory).bytes, 0);
    }
    pp_memory_unmap(larger, 16 * BYTES);
    assert_int_equal(find(larger).bytes, 0);
}

static void a_resize_that_fails_changes_nothing(void **state)
{
    (void)state;
    void *memory = pp_memory_map(BYTES);
    assert_null(pp_memory_resize(memory, BYTES, SIZE_MAX / 2));
    assert_int_equal(find(memory).bytes, BYTES);
    pp_memory_unmap(memory, BYTES);
}

static void a_full_list_loses_only_what_does_not_fit(void **state)
{
    (void)state;
    static void *memory[MANY];
    size_t before = find(NULL).all;
    for (int i = 0; i < MANY; i++) {
        memory[i] = pp_memory_map(BYTES);
        assert_non_null(memory[i]);
    }
    size_t full = find(NULL).all;
    assert_in_range(full, 512, MANY + before);
    assert_int_equal(find(memory[0]).bytes, BYTES);
    for (int i = 0; i < MANY; i++) {
        pp_memory_unmap(memory[i], BYTES);
    }
    assert_int_equal(find(NULL).all, before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_mapped_is_listed),
        cmocka_unit_test(a_resize_that_fails_changes_nothing),
        cmocka_unit_test(a_full_list_loses_only_what_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
