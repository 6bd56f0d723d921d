/* SPDX-License-Identifier: MIT
 *
 * test_got_memory.c: a read-only page becomes writable, and read-only again.
 */
#include "attach/got_memory.h"

#include "modules/maps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAGES = 4 };

static size_t page;

static char *map(int protection)
{
    char *memory = mmap(NULL, PAGES * page, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    return memory;
}

static bool is_writable(const char *at)
{
    pp_arena arena = PP_ARENA_INIT;
    char *text = NULL;
    size_t length = 0;
    pp_map_line line;
    bool writable = false;
    assert_int_equal(pp_maps_text(&arena, &text, &length), 0);
    while (pp_maps_next(&text, &line)) {
        if ((uintptr_t)at >= line.start && (uintptr_t)at < line.limit) {
            writable = line.writable;
        }
    }
    pp_arena_release(&arena);
    return writable;
}

static void one_page_is_open_at_a_time(void **state)
{
    (void)state;
    char *memory = map(PROT_READ);
    pp_got_memory m;
    pp_got_memory_begin(&m);
    assert_true(pp_got_memory_open(&m, (uintptr_t)memory + 8));
    memory[8] = 1;
    assert_true(pp_got_memory_open(&m, (uintptr_t)memory + 16));
    memory[16] = 1;
    assert_true(pp_got_memory_open(&m, (uintptr_t)memory + page));
    memory[page] = 1;
    assert_false(is_writable(memory));
    assert_true(is_writable(memory + page));
    pp_got_memory_close(&m);
    assert_false(is_writable(memory + page));
    pp_got_memory_end(&m);
    munmap(memory, PAGES * page);
}

static void a_writable_page_stays_writable(void **state)
{
    (void)state;
    char *memory = map(PROT_READ | PROT_WRITE);
    pp_got_memory m;
    pp_got_memory_begin(&m);
    assert_true(pp_got_memory_open(&m, (uintptr_t)memory));
    pp_got_memory_end(&m);
    assert_true(is_writable(memory));
    munmap(memory, PAGES * page);
}

static void what_is_mapped_later_is_refused(void **state)
{
    (void)state;
    pp_got_memory m;
    pp_got_memory_begin(&m);
    char *memory = map(PROT_READ);
    assert_false(pp_got_memory_open(&m, (uintptr_t)memory));
    pp_got_memory_end(&m);
    munmap(memory, PAGES * page);
}

static void what_is_not_readable_or_not_there_is_refused(void **state)
{
    (void)state;
    char *memory = map(PROT_NONE);
    pp_got_memory m;
    pp_got_memory_begin(&m);
    assert_false(pp_got_memory_open(&m, (uintptr_t)memory));
    assert_false(pp_got_memory_open(&m, 16));
    pp_got_memory_end(&m);
    munmap(memory, PAGES * page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_page_is_open_at_a_time),
        cmocka_unit_test(a_writable_page_stays_writable),
        cmocka_unit_test(what_is_mapped_later_is_refused),
        cmocka_unit_test(what_is_not_readable_or_not_there_is_refused),
    };
    page = (size_t)sysconf(_SC_PAGESIZE);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
