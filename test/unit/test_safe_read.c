/* SPDX-License-Identifier: MIT
 *
 * test_safe_read.c: memory that may not be there, by both ways of asking the kernel.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sys/safe_read.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>

enum { PAGE = 64 * 1024 /* the largest of Linux */, PAGES = 6 };

static uint8_t *memory; /* pages: none, data, data, none, read-only, unmapped */

static int map_pages(void **state)
{
    (void)state;
    memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return -1;
    for (size_t i = 0; i < PAGES * PAGE; i++)
        memory[i] = (uint8_t)(i * 7 + i / 256);
    return mprotect(memory, PAGE, PROT_NONE) | mprotect(memory + 3 * PAGE, PAGE, PROT_NONE) |
           mprotect(memory + 4 * PAGE, PAGE, PROT_READ) | munmap(memory + 5 * PAGE, PAGE);
}

static uintptr_t at(size_t page, size_t offset)
{
    return (uintptr_t)memory + page * PAGE + offset;
}

static void assert_copies(uintptr_t from, size_t size)
{
    static uint8_t to[2 * PAGE + 1];
    memset(to, 0, sizeof to);
    to[size] = 0xa5;
    assert_true(pp_safe_copy(to, from, size));
    assert_memory_equal(to, (void *)from, size);
    assert_int_equal(to[size], 0xa5);
}

static void assert_refuses(uintptr_t from, size_t size)
{
    static uint8_t to[PAGES * PAGE];
    assert_false(pp_safe_copy(to, from, size));
}

static void what_is_there_is_copied(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 7, 8, 9, 32, 100, 4095, 4096};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_copies(at(1, 0), sizes[i]);
        assert_copies(at(1, 13), sizes[i]); /* across a page's end */
        assert_copies(at(3, 0) - sizes[i], sizes[i]);
        assert_copies(at(4, 0), sizes[i]);
    }
    assert_copies(at(1, 0), 2 * PAGE);
}

static void what_is_not_there_is_refused_whole(void **state)
{
    (void)state;
    assert_refuses(at(0, 100), 8);
    assert_refuses(at(3, 0), 1);
    assert_refuses(at(5, 0), 1);
    for (size_t inside = 1; inside <= 8; inside++) {
        assert_refuses(at(3, 0) - inside, inside + 1); /* ends in a page without access */
        assert_refuses(at(1, 0) - 1, inside + 1);      /* begins in one */
        assert_refuses(at(5, 0) - inside, inside + 1); /* ends where nothing is mapped */
    }
    assert_refuses(at(2, 0), 3 * PAGE);
}

static void assert_copies_part(uintptr_t from, size_t size, size_t expected)
{
    static uint8_t to[PAGES * PAGE];
    memset(to, 0, sizeof to);
    assert_int_equal(pp_safe_copy_part(to, from, size), expected);
    if (expected > 0) {
        assert_memory_equal(to, (void *)from, expected);
    }
    assert_int_equal(to[expected], 0);
}

/* Nothing is mapped behind page 4. */
static void what_is_there_in_front_is_copied_in_part(void **state)
{
    (void)state;
    assert_copies_part(at(1, 0), 2 * PAGE, 2 * PAGE);
    assert_copies_part(at(1, 13), 100, 100);
    assert_copies_part(at(4, 0), PAGE + 1, PAGE);
    assert_copies_part(at(4, 100), PAGE, PAGE - 100);
    assert_copies_part(at(5, 0) - 1, 8, 1);
    assert_copies_part(at(5, 0), 8, 0);
    assert_copies_part(0, 8, 0);
    assert_copies_part(UINTPTR_MAX - 8, 8, 0);
    assert_copies_part(at(1, 0), SIZE_MAX, 0);
}

static void impossible_addresses_are_refused(void **state)
{
    (void)state;
    static const uintptr_t nowhere[] = {0,
                                        1,
                                        4095,
                                        0x7fffffffffff,
                                        0x800000000000,
                                        0xffff800000000000,
                                        0xffffffff81000000,
                                        UINTPTR_MAX - 8,
                                        UINTPTR_MAX};
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
        assert_refuses(nowhere[i], 8);
        assert_false(pp_page_readable(nowhere[i]));
    }
    assert_refuses(at(1, 0), SIZE_MAX);
    assert_refuses(at(1, 0), SIZE_MAX / 2);
}

static void pages_are_told_apart(void **state)
{
    (void)state;
    static const bool readable[PAGES] = {false, true, true, false, true, false};
    for (size_t page = 0; page < PAGES; page++) {
        assert_int_equal(pp_page_readable(at(page, 0)), readable[page]);
        assert_int_equal(pp_page_readable(at(page, 1)), readable[page]);
        assert_int_equal(pp_page_readable(at(page, PAGE - 1)), readable[page]);
    }
}

static void asking_changes_nothing(void **state)
{
    (void)state;
    sigset_t before, after, wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGUSR2);
    pthread_sigmask(SIG_SETMASK, &wanted, NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    memset(memory + PAGE, 0xff, 64); /* a mask of all signals, should it be taken for one */
    errno = 77;
    for (size_t page = 0; page < PAGES; page++)
        pp_page_readable(at(page, 0));
    uint8_t to[8];
    pp_safe_copy(to, at(3, 0), 8);
    assert_int_equal(errno, 77);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (int signal = 1; signal < 32; signal++)
        assert_int_equal(sigismember(&before, signal), sigismember(&after, signal));
    sigemptyset(&wanted);
    pthread_sigmask(SIG_SETMASK, &wanted, NULL);
}

/* From here on with process_vm_readv. */
static void permit(void **state)
{
    (void)state;
    pp_safe_read_permit_copy();
}

/* From here on without it. */
static void forbid(void **state)
{
    (void)state;
    pp_safe_read_forbid_copy();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_there_is_copied),
        cmocka_unit_test(what_is_not_there_is_refused_whole),
        cmocka_unit_test(what_is_there_in_front_is_copied_in_part),
        cmocka_unit_test(impossible_addresses_are_refused),
        cmocka_unit_test(pages_are_told_apart),
        cmocka_unit_test(asking_changes_nothing),
        cmocka_unit_test(permit),
        {"by_copy_what_is_there_is_copied", what_is_there_is_copied, NULL, NULL, NULL},
        {"by_copy_what_is_not_there_is_refused_whole", what_is_not_there_is_refused_whole, NULL,
         NULL, NULL},
        {"by_copy_impossible_addresses_are_refused", impossible_addresses_are_refused, NULL, NULL,
         NULL},
        cmocka_unit_test(forbid),
        cmocka_unit_test(permit), /* too late */
        {"without_copy_what_is_there_is_copied", what_is_there_is_copied, NULL, NULL, NULL},
        {"without_copy_what_is_not_there_is_refused", what_is_not_there_is_refused_whole, NULL,
         NULL, NULL},
        {"without_copy_what_is_there_is_copied_in_part", what_is_there_in_front_is_copied_in_part,
         NULL, NULL, NULL},
        {"without_copy_impossible_addresses_are_refused", impossible_addresses_are_refused, NULL,
         NULL, NULL},
        {"without_copy_asking_changes_nothing", asking_changes_nothing, NULL, NULL, NULL},
    };
    return cmocka_run_group_tests(tests, map_pages, NULL);
}
