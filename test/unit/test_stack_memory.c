/* SPDX-License-Identifier: MIT
 *
 * test_stack_memory.c: what a walk may read of a stack: the one it runs on in place, up to the last
 * word and never beyond, any other as a copy, and nothing that is not there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arch/rule.h"
#include "unwind/stack_memory.h"

#include <stdbool.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { PAGES = 16, STEP = 4096 /* of a walk, whatever the size of a page is */ };

static size_t page;

/* The first and the last page are forbidden; the others are a stack to run on. */
static char *memory;
static uintptr_t lo, hi; /* of what can be read */

static int map_pages(void **state)
{
    (void)state;
    page = (size_t)sysconf(_SC_PAGESIZE);
    memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return -1;
    lo = (uintptr_t)memory + page;
    hi = (uintptr_t)memory + (PAGES - 1) * page;
    return mprotect(memory, page, PROT_NONE) |
           mprotect(memory + (PAGES - 1) * page, page, PROT_NONE);
}

/* What a function found that ran on the pages; judged on the usual stack. */
typedef struct findings {
    pp_stack_window opened, later;
    unsigned wrong;
    bool beyond;
} findings;

static findings found;
static ucontext_t here_again;

/* Every cookie was put there by us, so that a copy of other bytes is noticed. */
static uintptr_t cookie_at(uintptr_t address)
{
    return address ^ UINT64_C(0x5a5a000000000000);
}

PP_RAW_MEMORY static bool reads_itself(pp_stack_window *window, uintptr_t address)
{
    uintptr_t word = 0;
    return pp_stack_read(window, address, &word) && word == *(const volatile uintptr_t *)address;
}

static void run_on_pages(void (*function)(void), uintptr_t top)
{
    ucontext_t context;
    memset(&found, 0, sizeof found);
    for (uintptr_t address = lo; address < hi; address += 8)
        *(uintptr_t *)address = cookie_at(address);
    assert_int_equal(getcontext(&context), 0);
    context.uc_stack.ss_sp = (void *)lo;
    context.uc_stack.ss_size = top - lo;
    context.uc_link = &here_again;
    makecontext(&context, function, 0);
    assert_int_equal(swapcontext(&here_again, &context), 0);
    pp_stack_declare(0, 0);
}

static uintptr_t end_of(const pp_stack_window *window)
{
    return window->lo + window->span + 7;
}

/* ---- the stack that we run on ---- */

static void look_at_own_stack(void)
{
    pp_stack_copy copy;
    pp_stack_window window;
    uintptr_t word = 0;
    pp_stack_declare(lo, hi);
    pp_stack_window_open(&window, 0, &copy);
    found.opened = window;
    for (uintptr_t address = (window.lo | 7) + 1; address < hi; address += 8)
        found.wrong += !reads_itself(&window, address);
    found.beyond = pp_stack_read(&window, hi, &word) || pp_stack_read(&window, hi - 4, &word);
    found.later = window;
}

static void own_stack_is_one_window_from_our_frame_to_its_top(void **state)
{
    (void)state;
    run_on_pages(look_at_own_stack, hi);
    assert_in_range(found.opened.lo, lo, hi);
    assert_int_equal(end_of(&found.opened), hi);
    assert_int_equal(found.opened.cfa_hi, hi);
    assert_int_equal(found.opened.cfa_lo, found.opened.lo + PP_PACKED_WORDS_BELOW_CFA * 8);
    assert_int_equal(found.wrong, 0);
    assert_false(found.beyond);
    assert_memory_equal(&found.later, &found.opened, sizeof found.opened); /* nothing was asked */
}

static void look_upwards(void)
{
    pp_stack_copy copy;
    pp_stack_window window;
    uintptr_t word = 0;
    pp_stack_declare(0, 0);
    pp_stack_window_open(&window, 0, &copy);
    found.opened = window;
    for (uintptr_t address = (window.lo | 7) + 1; address < hi; address += 8)
        found.wrong += !reads_itself(&window, address);
    found.beyond = pp_stack_read(&window, hi, &word);
    found.later = window;
}

static void an_unknown_stack_grows_by_the_page_up_to_what_is_not_there(void **state)
{
    (void)state;
    run_on_pages(look_upwards, hi - 5 * page);
    assert_int_equal(end_of(&found.opened), (found.opened.lo | (STEP - 1)) + 1);
    assert_int_equal(found.wrong, 0);
    assert_false(found.beyond);
    assert_int_equal(found.later.lo, found.opened.lo);
    assert_int_equal(end_of(&found.later), hi);
    assert_int_equal(found.later.cfa_hi, hi);
}

static void look_downwards(void)
{
    pp_stack_copy copy;
    pp_stack_window window;
    uintptr_t word = 0;
    pp_stack_window_open(&window, 0, &copy);
    found.opened = window;
    for (uintptr_t address = lo; address < lo + page; address += 8)
        found.wrong += !pp_stack_read(&window, address, &word) || word != cookie_at(address);
    found.beyond = pp_stack_read(&window, lo - 8, &word);
    found.later = window;
}

static void what_lies_below_our_frame_is_copied(void **state)
{
    (void)state;
    run_on_pages(look_downwards, hi);
    assert_int_equal(found.wrong, 0);
    assert_false(found.beyond);
    assert_int_equal(found.later.lo, found.opened.lo);
    assert_int_equal(found.later.span, found.opened.span);
}

/* ---- the stack that a signal interrupted ---- */

/* Runs on the upper half; the lower one is the thread's own stack. */
static void look_at_interrupted_stack(void)
{
    const uintptr_t top = lo + (PAGES / 2 - 1) * page;
    const uintptr_t sp = top - 5 * page - 64;
    pp_stack_copy copy;
    pp_stack_window window;
    pp_stack_declare((uintptr_t)memory, top);
    pp_stack_window_open(&window, 0, &copy);
    const pp_stack_window opened = window;
    pp_stack_window_move(&window, lo - 8); /* no memory */
    pp_stack_window_move(&window, top - 4);
    pp_stack_window_move(&window, top);
    found.wrong += memcmp(&window, &opened, sizeof window) != 0;
    pp_stack_window_move(&window, sp);
    found.opened = window;
    for (uintptr_t address = sp; address < top; address += 8)
        found.wrong += !reads_itself(&window, address);
    found.later = window;
    found.beyond = window.lo != sp || end_of(&window) != top;
    pp_stack_window_move(&window, sp + 64); /* of a further handler on the same stack */
    found.wrong += memcmp(&window, &found.later, sizeof window) != 0;
    pp_stack_window_open_other(&window, NULL, NULL, &copy);
    pp_stack_window_move(&window, sp);
    found.wrong += window.span != 0;
}

static void an_interrupted_own_stack_is_read_in_place_like_the_handlers(void **state)
{
    (void)state;
    run_on_pages(look_at_interrupted_stack, hi);
    assert_int_equal(found.wrong, 0);
    assert_false(found.beyond);
    assert_memory_equal(&found.later, &found.opened, sizeof found.opened);
}

/* ---- others ---- */

static pp_stack_copy copy_here;

static pp_stack_window open_here(void)
{
    pp_stack_window window;
    pp_stack_window_open(&window, 0, &copy_here);
    return window;
}

static void assert_unreadable(pp_stack_window *window, uintptr_t address)
{
    uintptr_t word = 0x5a5a;
    assert_false(pp_stack_read(window, address, &word));
    assert_int_equal(word, 0x5a5a);
}

static void assert_holds(pp_stack_window *window, uintptr_t address, uintptr_t value)
{
    uintptr_t word = ~value;
    assert_true(pp_stack_read(window, address, &word));
    assert_int_equal(word, value);
}

static void every_word_of_another_stack_is_copied(void **state)
{
    (void)state;
    pp_stack_window window = open_here();
    const pp_stack_window opened = window;
    for (uintptr_t address = lo; address < hi; address += 8)
        *(uintptr_t *)address = cookie_at(address);
    for (uintptr_t address = lo; address < hi; address += 8)
        assert_holds(&window, address, cookie_at(address));
    assert_unreadable(&window, hi);
    for (uintptr_t address = hi - 8; address >= lo; address -= 8)
        assert_holds(&window, address, cookie_at(address));
    assert_unreadable(&window, lo - 8);
    assert_memory_equal(&window, &opened, sizeof opened); /* nothing of it in place */
}

static void odd_addresses_elsewhere_are_refused(void **state)
{
    (void)state;
    pp_stack_window window = open_here();
    *(uintptr_t *)(hi - 64) = 7;
    for (uintptr_t odd = 1; odd < 8; odd++) {
        assert_unreadable(&window, hi - 64 + odd);
        assert_holds(&window, hi - 64, 7);
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
    *(uintptr_t *)(lo + 256) = 9;
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
        pp_stack_window window = open_here();
        assert_unreadable(&window, nowhere[i]);
        assert_holds(&window, lo + 256, 9);
    }
}

static void a_copy_is_not_kept_for_the_next_walk(void **state)
{
    (void)state;
    uintptr_t *other = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(other, MAP_FAILED);
    other[3] = 11;
    pp_stack_window window = open_here();
    assert_holds(&window, (uintptr_t)&other[3], 11);
    other[3] = 12;
    window = open_here();
    assert_holds(&window, (uintptr_t)&other[3], 12);
    munmap(other, page);
    window = open_here();
    assert_unreadable(&window, (uintptr_t)&other[3]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_stack_is_one_window_from_our_frame_to_its_top),
        cmocka_unit_test(an_unknown_stack_grows_by_the_page_up_to_what_is_not_there),
        cmocka_unit_test(what_lies_below_our_frame_is_copied),
        cmocka_unit_test(an_interrupted_own_stack_is_read_in_place_like_the_handlers),
        cmocka_unit_test(every_word_of_another_stack_is_copied),
        cmocka_unit_test(odd_addresses_elsewhere_are_refused),
        cmocka_unit_test(addresses_without_memory_are_refused),
        cmocka_unit_test(a_copy_is_not_kept_for_the_next_walk),
    };
    return cmocka_run_group_tests(tests, map_pages, NULL);
}
