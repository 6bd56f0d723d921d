/* SPDX-License-Identifier: MIT
 *
 * test_smaps.c: numbers of mappings from a text, and from this process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arch/system_call.h"
#include "base/arena.h"
#include "modules/smaps.h"

#include <sys/mman.h>

static pp_smaps parse(const char *of_text, pp_arena *arena)
{
    pp_smaps smaps;
    char *text = pp_arena_text(arena, of_text, strlen(of_text));
    assert_int_equal(pp_smaps_parse(text, strlen(of_text), arena, &smaps), 0);
    return smaps;
}

static void numbers_belong_to_the_line_before(void **state)
{
    (void)state;
    pp_arena arena = PP_ARENA_INIT;
    pp_smaps smaps = parse("10000-20000 rw-p 00000000 00:00 0                    [heap]\n"
                           "Size:                 64 kB\n"
                           "Rss:                  40 kB\n"
                           "Shared_Clean:          4 kB\n"
                           "Private_Clean:         6 kB\n"
                           "Private_Dirty:        30 kB\n"
                           "Anonymous:            38 kB\n"
                           "Swap:                 12 kB\n"
                           "SwapPss:              99 kB\n"
                           "VmFlags: rd wr mr mw me ac\n"
                           "a0000-b0000 r--s 00001000 fe:00 12                   /tmp/A b: 3 kB\n"
                           "Rss:                   0 kB\n"
                           "Private_Hugetlb:    2048 kB\n",
                           &arena);
    assert_int_equal(smaps.count, 2);
    const pp_smaps_area *heap = &smaps.list[0];
    assert_int_equal(heap->map.start, 0x10000);
    assert_string_equal(heap->map.path, "[heap]");
    assert_false(heap->map.shared);
    assert_int_equal(heap->resident, 40 << 10);
    assert_int_equal(heap->owned, 36 << 10);
    assert_int_equal(heap->anonymous, 38 << 10);
    assert_int_equal(heap->swapped, 12 << 10);
    const pp_smaps_area *file = &smaps.list[1];
    assert_true(file->map.shared);
    assert_string_equal(file->map.path, "/tmp/A b: 3 kB");
    assert_int_equal(file->resident, 0);
    assert_int_equal(file->huge, 2 << 20);
    pp_arena_release(&arena);
}

/* The kernel joined mappings between two lines. */
static void areas_do_not_overlap(void **state)
{
    (void)state;
    pp_arena arena = PP_ARENA_INIT;
    pp_smaps smaps = parse("10000-20000 rw-p 00000000 00:00 0\nRss: 40 kB\n"
                           "18000-30000 rw-p 00000000 00:00 0\nRss: 4 kB\n"
                           "10000-28000 rw-p 00000000 00:00 0\nRss: 400 kB\n"
                           "30000-40000 rw-p 00000000 00:00 0\nRss: 8 kB\n",
                           &arena);
    static const struct {
        uintptr_t start, limit;
        uint64_t resident;
    } expected[] = {
        {0x10000, 0x20000, 40 << 10}, {0x20000, 0x30000, 4 << 10}, {0x30000, 0x40000, 8 << 10}};
    assert_int_equal(smaps.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(smaps.list[i].map.start, expected[i].start);
        assert_int_equal(smaps.list[i].map.limit, expected[i].limit);
        assert_int_equal(smaps.list[i].resident, expected[i].resident);
    }
    pp_arena_release(&arena);
}

static void bad_texts_have_no_areas(void **state)
{
    (void)state;
    pp_arena arena = PP_ARENA_INIT;
    static const char *const texts[] = {"", "Rss: 4 kB\n", "x\n", "10000-\nRss: 4 kB\n", "\n\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(parse(texts[i], &arena).count, 0);
    }
    assert_int_equal(parse("1000-2000 rw-p 0 00:00 0", &arena).count, 1);
    pp_arena_release(&arena);
}

static void a_mapping_has_the_pages_that_were_written(void **state)
{
    (void)state;
    enum { BYTES = 1 << 20, WRITTEN = 256 << 10 };
    pp_arena arena = PP_ARENA_INIT;
    pp_smaps smaps;
    char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    memset(memory, 1, WRITTEN);
    assert_int_equal(pp_smaps_read("/proc/thread-self/smaps", &arena, &smaps), 0);
    size_t i = 0;
    while (i < smaps.count && smaps.list[i].map.start != (uintptr_t)memory) {
        i++;
    }
    assert_true(i < smaps.count);
    assert_int_equal(smaps.list[i].resident, WRITTEN);
    assert_true(smaps.list[i].map.shared);
    munmap(memory, BYTES);
    pp_arena_release(&arena);
}

static void add_bytes(uintptr_t start, size_t bytes, void *sum)
{
    (void)start;
    *(size_t *)sum += bytes;
}

/* More than a piece of the file, and the names of files stay. */
static void many_mappings_take_little_memory(void **state)
{
    (void)state;
    enum { PAGES = 4000, MOST = 4 << 20 }; /* the text has 2.6 MB */
    const size_t page = pp_page_bytes();
    pp_arena arena = PP_ARENA_INIT;
    pp_smaps smaps;
    char *memory =
        mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    for (size_t i = 0; i < PAGES; i += 2) {
        memory[i * page] = 1;
        assert_int_equal(mprotect(memory + i * page, page, PROT_READ), 0);
    }
    assert_int_equal(pp_smaps_read("/proc/thread-self/smaps", &arena, &smaps), 0);
    size_t bytes = 0;
    size_t found = 0;
    bool has_stack = false;
    pp_arena_each(&arena, add_bytes, &bytes);
    assert_in_range(bytes, 0, MOST);
    for (size_t i = 0; i < smaps.count; i++) {
        const pp_smaps_area *area = &smaps.list[i];
        uintptr_t at = area->map.start - (uintptr_t)memory;
        has_stack |= strcmp(area->map.path, "[stack]") == 0;
        if (at < PAGES * page && at / page % 2 == 0) {
            assert_int_equal(area->resident, page);
            assert_false(area->map.writable);
            assert_string_equal(area->map.path, "");
            found++;
        }
    }
    assert_int_equal(found, PAGES / 2);
    assert_true(has_stack);
    munmap(memory, PAGES * page);
    pp_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_belong_to_the_line_before),
        cmocka_unit_test(areas_do_not_overlap),
        cmocka_unit_test(bad_texts_have_no_areas),
        cmocka_unit_test(a_mapping_has_the_pages_that_were_written),
        cmocka_unit_test(many_mappings_take_little_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
