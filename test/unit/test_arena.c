/* SPDX-License-Identifier: MIT
 *
 * test_arena.c: pieces are zeroed, aligned and apart; refusals are reported and stick.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "mmap_fault.h"

static void pieces_are_aligned_zeroed_and_apart(void **state)
{
    (void)state;
    enum { PIECES = 3000 };
    static unsigned char *pieces[PIECES];
    static size_t sizes[PIECES];
    pp_arena arena = PP_ARENA_INIT;
    for (int i = 0; i < PIECES; i++) {
        sizes[i] = (size_t)i * 37 % 1500 + 1;
        pieces[i] = pp_arena_alloc(&arena, sizes[i]);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % 16, 0);
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(pieces[i][k], 0);
        memset(pieces[i], i % 255 + 1, sizes[i]);
    }
    for (int i = 0; i < PIECES; i++) {
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(pieces[i][k], i % 255 + 1);
    }
    assert_false(arena.failed);
    pp_arena_release(&arena);
}

static void large_pieces_leave_room_for_small_ones(void **state)
{
    (void)state;
    pp_arena arena = PP_ARENA_INIT;
    char *first = pp_arena_alloc(&arena, 16);
    enum { LARGE = (10 << 20) - 4096 }; /* leaves less than 4 KiB of its own mapping */
    memset(pp_arena_alloc(&arena, LARGE), 1, LARGE);
    char *second = pp_arena_alloc(&arena, 16);
    assert_ptr_equal(second, first + 16);
    pp_arena_release(&arena);
}

static void size_zero_is_a_piece(void **state)
{
    (void)state;
    pp_arena arena = PP_ARENA_INIT;
    void *a = pp_arena_alloc(&arena, 0);
    void *b = pp_arena_array(&arena, 0, 8);
    assert_non_null(a);
    assert_non_null(b);
    assert_ptr_not_equal(a, b);
    pp_arena_release(&arena);
}

static void text_is_copied_and_terminated(void **state)
{
    (void)state;
    pp_arena arena = PP_ARENA_INIT;
    assert_string_equal(pp_arena_text(&arena, "profile", 4), "prof");
    assert_string_equal(pp_arena_text(&arena, NULL, 0), "");
    pp_arena_release(&arena);
}

static void impossible_sizes_fail(void **state)
{
    (void)state;
    const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 15, SIZE_MAX / 2 + 1, SIZE_MAX / 2};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        pp_arena arena = PP_ARENA_INIT;
        assert_null(pp_arena_alloc(&arena, sizes[i]));
        assert_true(arena.failed);
        pp_arena_release(&arena);
    }
    pp_arena arena = PP_ARENA_INIT;
    assert_null(pp_arena_array(&arena, SIZE_MAX / 8 + 2, 8));
    assert_true(arena.failed);
    arena.failed = false;
    assert_null(pp_arena_text(&arena, "x", SIZE_MAX));
    assert_true(arena.failed);
    pp_arena_release(&arena);
}

static void an_array_to_be_filled_is_like_others(void **state)
{
    (void)state;
    pp_arena arena = PP_ARENA_INIT;
    for (size_t count = 1; count < 200000; count = count * 3 + 1) {
        unsigned char *before = pp_arena_alloc(&arena, 5);
        memset(before, 1, 5);
        unsigned char *array = pp_arena_array_filled(&arena, count, 3);
        assert_non_null(array);
        for (size_t i = 0; i < 3 * count; i++)
            assert_int_equal(array[i], 0);
        memset(array, 2, 3 * count);
        assert_int_equal(before[4], 1);
    }
    assert_null(pp_arena_array_filled(&arena, SIZE_MAX / 8 + 2, 8));
    assert_true(arena.failed);
    pp_arena_release(&arena);
}

static void refusal_sticks_until_release(void **state)
{
    (void)state;
    needs_mmap_fault();
    pp_arena arena = PP_ARENA_INIT;
    assert_non_null(pp_arena_alloc(&arena, 100));
    mappings_left = 0;
    assert_null(pp_arena_alloc(&arena, 1 << 20));
    assert_true(arena.failed);
    assert_non_null(pp_arena_alloc(&arena, 100)); /* from the chunk that it has */
    assert_true(arena.failed);
    mappings_left = LONG_MAX;
    pp_arena_release(&arena);
    assert_false(arena.failed);
    assert_non_null(pp_arena_alloc(&arena, 1 << 20));
    pp_arena_release(&arena);
}

static void release_gives_everything_back(void **state)
{
    (void)state;
    needs_mmap_fault();
    pp_arena arena = PP_ARENA_INIT;
    long before = mappings_live;
    for (int i = 0; i < 200; i++)
        assert_non_null(pp_arena_alloc(&arena, 60000));
    assert_true(mappings_live > before);
    pp_arena_release(&arena);
    assert_int_equal(mappings_live, before);
}

static void an_emptied_arena_has_the_memory_it_had_as_zeros(void **state)
{
    (void)state;
    needs_mmap_fault();
    pp_arena arena = PP_ARENA_INIT;
    long before = mappings_live;
    pp_arena_empty(&arena); /* of nothing */
    assert_int_equal(mappings_live, before);
    unsigned char *piece = memset(pp_arena_alloc(&arena, 5000), 1, 5000);
    for (int i = 0; i < 3; i++) {
        arena.failed = true;
        pp_arena_empty(&arena);
        assert_false(arena.failed);
        assert_int_equal(mappings_live, before + 1);
        assert_ptr_equal(pp_arena_alloc(&arena, 5000), piece);
        for (int k = 0; k < 5000; k++) {
            assert_int_equal(piece[k], 0);
        }
        memset(piece, 2, 5000);
    }
    assert_non_null(pp_arena_alloc(&arena, 1 << 20)); /* a large one gives it back */
    pp_arena_empty(&arena);
    assert_int_equal(mappings_live, before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_aligned_zeroed_and_apart),
        cmocka_unit_test(large_pieces_leave_room_for_small_ones),
        cmocka_unit_test(size_zero_is_a_piece),
        cmocka_unit_test(text_is_copied_and_terminated),
        cmocka_unit_test(impossible_sizes_fail),
        cmocka_unit_test(an_array_to_be_filled_is_like_others),
        cmocka_unit_test(refusal_sticks_until_release),
        cmocka_unit_test(release_gives_everything_back),
        cmocka_unit_test(an_emptied_arena_has_the_memory_it_had_as_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
