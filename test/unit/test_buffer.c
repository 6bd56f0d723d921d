/* SPDX-License-Identifier: MIT
 *
 * test_buffer.c: what is appended is there; a refusal sticks and costs nothing that was there
 * before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "mmap_fault.h"

static void appended_bytes_survive_growth(void **state)
{
    (void)state;
    needs_mmap_fault();
    pp_buffer buffer = PP_BUFFER_INIT;
    long before = mappings_live;
    for (uint32_t i = 0; i < 200000; i++)
        pp_buffer_append(&buffer, &i, sizeof(i));
    pp_buffer_append(&buffer, NULL, 0);
    assert_false(buffer.failed);
    assert_int_equal(buffer.size, 800000);
    for (uint32_t i = 0; i < 200000; i++) {
        uint32_t found;
        memcpy(&found, buffer.data + 4 * i, sizeof(found));
        assert_int_equal(found, i);
    }
    pp_buffer_release(&buffer);
    assert_null(buffer.data);
    assert_int_equal(mappings_live, before);
}

static void reserved_room_counts_when_it_is_claimed(void **state)
{
    (void)state;
    pp_buffer buffer = PP_BUFFER_INIT;
    uint8_t *room = pp_buffer_reserve(&buffer, 1000000);
    assert_non_null(room);
    room[999999] = 1;
    assert_int_equal(buffer.size, 0);
    assert_ptr_equal(pp_buffer_reserve(&buffer, 10), room);
    buffer.size += 10;
    assert_ptr_equal(pp_buffer_reserve(&buffer, 10), room + 10);
    pp_buffer_release(&buffer);
}

static void refusal_sticks(void **state)
{
    (void)state;
    needs_mmap_fault();
    static const char piece[200] = "a piece";
    for (long allowed = 0; allowed < 3; allowed++) {
        pp_buffer buffer = PP_BUFFER_INIT;
        mappings_left = allowed;
        size_t before = 0;
        for (int i = 0; i < 1000 && !buffer.failed; i++) {
            before = buffer.size;
            pp_buffer_append(&buffer, piece, sizeof(piece));
        }
        assert_true(buffer.failed);
        assert_int_equal(buffer.size, before);
        mappings_left = LONG_MAX;
        pp_buffer_append(&buffer, "x", 1);
        assert_int_equal(buffer.size, before);
        assert_null(pp_buffer_reserve(&buffer, 1));
        pp_buffer_release(&buffer);
        assert_false(buffer.failed);
        pp_buffer_append(&buffer, "x", 1);
        assert_int_equal(buffer.size, 1);
        pp_buffer_release(&buffer);
    }
}

static void impossible_sizes_fail(void **state)
{
    (void)state;
    pp_buffer buffer = PP_BUFFER_INIT;
    pp_buffer_append(&buffer, "x", 1);
    assert_null(pp_buffer_reserve(&buffer, SIZE_MAX));
    assert_true(buffer.failed);
    pp_buffer_release(&buffer);
    assert_null(pp_buffer_reserve(&buffer, SIZE_MAX / 2));
    pp_buffer_release(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appended_bytes_survive_growth),
        cmocka_unit_test(reserved_room_counts_when_it_is_claimed),
        cmocka_unit_test(refusal_sticks),
        cmocka_unit_test(impossible_sizes_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
