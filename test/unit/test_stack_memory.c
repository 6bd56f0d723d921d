/* SPDX-License-Identifier: MIT
 *
 * test_stack_memory.c: what a walk may read of a stack: its own up to the last word and never
 * beyond, any other page by page, and nothing that is not there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "unwind/stack_memory.h"

#include <sys/mman.h>

enum { PAGE = 4096, PAGES = 8, WORDS = PAGE / 8 };

/* Pages 0 and 7 are forbidden; the words of the others hold their own addresses. */
static uintptr_t *pages[PAGES];
static uintptr_t lo, hi; /* of what can be read */

static int map_pages(void **state)
{
    (void)state;
    char *memory =
        mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return -1;
    for (int i = 0; i < PAGES; i++) {
        pages[i] = (uintptr_t *)(memory + i * PAGE);
        for (int j = 0; j < WORDS; j++)
            pages[i][j] = (uintptr_t)&pages[i][j];
    }
    lo = (uintptr_t)pages[1];
    hi = (uintptr_t)pages[PAGES - 1];
    return mprotect(pages[0], PAGE, PROT_NONE) | mprotect(pages[PAGES - 1], PAGE, PROT_NONE);
}

static int declare_nothing(void **state)
{
    (void)state;
    pp_stack_declare(0, 0);
    return 0;
}

static pp_stack_window open_at(uintptr_t sp)
{
    pp_stack_window window;
    pp_stack_window_open(&window, sp);
    return window;
}

static void assert_readable(pp_stack_window *window, uintptr_t address)
{
    uintptr_t word = 0;
    assert_true(pp_stack_read(window, address, &word));
    assert_int_equal(word, address);
}

static void assert_unreadable(pp_stack_window *window, uintptr_t address)
{
    uintptr_t word = 0x5a5a;
    assert_false(pp_stack_read(window, address, &word));
    assert_int_equal(word, 0x5a5a);
}

static void own_stack_is_one_window(void **state)
{
    (void)state;
    uintptr_t sp = (uintptr_t)&pages[2][100];
    pp_stack_declare(lo, hi);
    pp_stack_window window = open_at(sp);
    assert_int_equal(window.lo, sp - 128); /* the red zone */
    assert_int_equal(window.lo + window.span + 7, hi);
    for (uintptr_t address = sp - 128; address < hi; address += 8)
        assert_readable(&window, address);
    assert_int_equal(window.lo, sp - 128); /* nothing was asked */
    assert_unreadable(&window, hi);
}

static void own_stack_ends_with_its_last_whole_word(void **state)
{
    (void)state;
    pp_stack_declare(lo, hi);
    pp_stack_window window = open_at(lo + 512);
    uintptr_t word = 0;
    for (uintptr_t address = hi - 7; address < hi + 8; address++)
        assert_unreadable(&window, address);
    assert_true(pp_stack_read(&window, hi - 9, &word)); /* odd, but whole */
    assert_readable(&window, hi - 8);
}

static void window_does_not_reach_below_the_limit(void **state)
{
    (void)state;
    pp_stack_declare(lo, hi);
    pp_stack_window window = open_at(lo + 8);
    assert_int_equal(window.lo, lo);
    assert_readable(&window, lo);
    assert_unreadable(&window, lo - 8);
}

static void another_stack_is_read_page_by_page(void **state)
{
    (void)state;
    uintptr_t sp = (uintptr_t)&pages[2][WORDS - 2];
    pp_stack_window window = open_at(sp);
    assert_int_equal(window.span, 0);
    assert_readable(&window, sp);
    assert_int_equal(window.lo, pages[2]);
    assert_readable(&window, sp + 16); /* the neighbour joins */
    assert_int_equal(window.lo, pages[2]);
    assert_int_equal(window.lo + window.span + 7, pages[4]);
    assert_readable(&window, (uintptr_t)&pages[1][5]); /* and the one below */
    assert_int_equal(window.lo, pages[1]);
    assert_readable(&window, (uintptr_t)&pages[5][5]); /* a distant one replaces them */
    assert_int_equal(window.lo, pages[5]);
    assert_int_equal(window.lo + window.span + 7, pages[6]);
    assert_unreadable(&window, hi);
    assert_unreadable(&window, lo - 8);
    assert_readable(&window, (uintptr_t)&pages[5][5]);
}

static void every_word_of_another_stack_can_be_read(void **state)
{
    (void)state;
    pp_stack_window window = open_at(lo);
    for (uintptr_t address = lo; address < hi; address += 8)
        assert_readable(&window, address);
    assert_unreadable(&window, hi);
    window = open_at(hi - 8);
    for (uintptr_t address = hi - 8; address >= lo; address -= 8)
        assert_readable(&window, address);
    assert_unreadable(&window, lo - 8);
}

static void words_across_the_edge_are_refused(void **state)
{
    (void)state;
    for (uintptr_t odd = 1; odd < 8; odd++) {
        pp_stack_window window = open_at(hi - 64);
        assert_unreadable(&window, hi - 64 + odd); /* not known yet, and not aligned */
        assert_readable(&window, hi - 8);
        assert_unreadable(&window, hi - 8 + odd);
    }
}

static void addresses_without_memory_are_refused(void **state)
{
    (void)state;
    static const uintptr_t nowhere[] = {0,
                                        8,
                                        0x1000,
                                        0x7ffffffff000,
                                        0x800000000000,
                                        0x8000000000000000,
                                        0xffffffffff600000,
                                        UINTPTR_MAX - 7,
                                        UINTPTR_MAX};
    for (int declared = 0; declared <= 1; declared++) {
        pp_stack_declare(declared ? lo : 0, declared ? hi : 0);
        for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
            pp_stack_window window = open_at(lo + 256);
            assert_unreadable(&window, nowhere[i]);
            assert_readable(&window, lo + 256);
        }
    }
}

static void own_stack_is_found_again_after_a_look_elsewhere(void **state)
{
    (void)state;
    uintptr_t sp = (uintptr_t)&pages[4][8];
    uintptr_t *other = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(other, MAP_FAILED);
    other[3] = (uintptr_t)&other[3];
    pp_stack_declare((uintptr_t)pages[4], hi);
    pp_stack_window window = open_at(sp);
    assert_readable(&window, (uintptr_t)&other[3]);
    assert_readable(&window, sp);
    assert_int_equal(window.lo + window.span + 7, hi);
    /* Below the red zone there may be nothing: that is asked for. */
    assert_readable(&window, (uintptr_t)&pages[2][0]);
    assert_unreadable(&window, lo - 8);
    munmap(other, PAGE);
}

static void pages_that_went_are_not_remembered_by_the_next_walk(void **state)
{
    (void)state;
    uintptr_t *other = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(other, MAP_FAILED);
    other[3] = (uintptr_t)&other[3];
    pp_stack_window window = open_at((uintptr_t)other);
    assert_readable(&window, (uintptr_t)&other[3]);
    munmap(other, PAGE);
    window = open_at((uintptr_t)other);
    assert_unreadable(&window, (uintptr_t)&other[3]);
}

static void an_empty_declaration_is_no_stack(void **state)
{
    (void)state;
    pp_stack_declare(lo, hi);
    pp_stack_declare(0, 0);
    assert_int_equal(open_at(lo + 64).span, 0);
    assert_int_equal(open_at(0).span, 0);
    assert_int_equal(open_at(UINTPTR_MAX).span, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(own_stack_is_one_window, declare_nothing),
        cmocka_unit_test_setup(own_stack_ends_with_its_last_whole_word, declare_nothing),
        cmocka_unit_test_setup(window_does_not_reach_below_the_limit, declare_nothing),
        cmocka_unit_test_setup(another_stack_is_read_page_by_page, declare_nothing),
        cmocka_unit_test_setup(every_word_of_another_stack_can_be_read, declare_nothing),
        cmocka_unit_test_setup(words_across_the_edge_are_refused, declare_nothing),
        cmocka_unit_test_setup(addresses_without_memory_are_refused, declare_nothing),
        cmocka_unit_test_setup(own_stack_is_found_again_after_a_look_elsewhere, declare_nothing),
        cmocka_unit_test_setup(pages_that_went_are_not_remembered_by_the_next_walk,
                               declare_nothing),
        cmocka_unit_test_setup(an_empty_declaration_is_no_stack, declare_nothing),
    };
    return cmocka_run_group_tests(tests, map_pages, NULL);
}
