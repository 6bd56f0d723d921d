/* SPDX-License-Identifier: MIT
 *
 * test_resident.c: holders of areas, cuts, pages and blocks, on made-up mappings; and that the parts
 * always add up to what the areas have, whatever spans and pages come.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/random.h"
#include "kinds/heap/resident.h"

enum { PAGE = 4096 };

static const char text[] =
    "100000-101000 r--p 00000000 fe:00 1   /bin/a\nRss: 4 kB\n"
    "101000-103000 r-xp 00001000 fe:00 1   /bin/a\nRss: 8 kB\n"
    "103000-104000 r--p 00003000 fe:00 1   /bin/a\nRss: 4 kB\nAnonymous: 4 kB\n"
    "104000-105000 rw-p 00004000 fe:00 1   /bin/a\nRss: 4 kB\n"
    "105000-107000 rw-p 00000000 00:00 0 \nRss: 8 kB\n"
    "200000-300000 rw-p 00000000 00:00 0   [heap]\nRss: 800 kB\nPrivate_Dirty: 400 kB\n"
    "400000-500000 rw-p 00000000 00:00 0 \nRss: 512 kB\nSwap: 8 kB\n"
    "500000-501000 r--s 00000000 fe:00 2   /usr/share/data (deleted)\nRss: 4 kB\n"
    "501000-502000 rw-s 00000000 00:01 3   /dev/zero (deleted)\nRss: 4 kB\n"
    "502000-503000 rw-s 00000000 00:01 3   /memfd:pool (deleted)\nRss: 4 kB\n"
    "503000-504000 rw-s 00000000 00:01 3   /dev/shm/x\nRss: 4 kB\n"
    "504000-505000 rw-s 00000000 00:01 3   /SYSV00000000 (deleted)\nRss: 4 kB\n"
    "505000-506000 r-xp 00000000 fe:00 4   /lib/libpprof.so.0.1.0\nRss: 4 kB\n"
    "506000-507000 rw-p 00001000 fe:00 4   /lib/libpprof.so.0.1.0\nRss: 4 kB\n"
    "507000-509000 rw-p 00000000 00:00 0 \nRss: 8 kB\n"
    "509000-50a000 r--p 00000000 fe:00 5   /usr/lib/locale\nRss: 4 kB\n"
    "700000-702000 rw-p 00000000 00:00 0   [stack]\nRss: 8 kB\n"
    "800000-801000 r-xp 00000000 00:00 0   [vdso]\nRss: 4 kB\n";

enum { HEAP = 5, MEMORY = 6, AREAS = 18 };

static pp_resident read_areas(pp_arena *arena)
{
    pp_resident resident = {.part = 0};
    char *copy = pp_arena_text(arena, text, sizeof text - 1);
    assert_int_equal(pp_smaps_parse(copy, sizeof text - 1, arena, &resident.areas), 0);
    assert_int_equal(resident.areas.count, AREAS);
    return resident;
}

static void each_area_has_a_holder(void **state)
{
    (void)state;
    static const pp_holder expected[AREAS] = {
        PP_HOLDER_CODE,    PP_HOLDER_CODE,    PP_HOLDER_DATA,  PP_HOLDER_DATA,   PP_HOLDER_DATA,
        PP_HOLDER_UNKNOWN, PP_HOLDER_UNKNOWN, PP_HOLDER_FILES, PP_HOLDER_SHARED, PP_HOLDER_SHARED,
        PP_HOLDER_SHARED,  PP_HOLDER_SHARED,  PP_HOLDER_OWN,   PP_HOLDER_OWN,    PP_HOLDER_OWN,
        PP_HOLDER_FILES,   PP_HOLDER_STACKS,  PP_HOLDER_KERNEL};
    pp_arena arena = PP_ARENA_INIT;
    pp_resident resident = read_areas(&arena);
    for (size_t i = 0; i < AREAS; i++) {
        assert_int_equal(pp_resident_holder(&resident.areas, i), expected[i]);
    }
    pp_arena_release(&arena);
}

static void the_program_break_is_no_variable(void **state)
{
    (void)state;
    static const char adjacent[] = "100000-101000 r-xp 00000000 fe:00 1   /bin/a\nRss: 4 kB\n"
                                   "101000-102000 rw-p 00001000 fe:00 1   /bin/a\nRss: 4 kB\n"
                                   "102000-202000 rw-p 00000000 00:00 0   [heap]\nRss: 800 kB\n";
    pp_arena arena = PP_ARENA_INIT;
    pp_smaps areas;
    char *copy = pp_arena_text(&arena, adjacent, sizeof adjacent - 1);
    assert_int_equal(pp_smaps_parse(copy, sizeof adjacent - 1, &arena, &areas), 0);
    assert_int_equal(areas.count, 3);
    assert_int_equal(pp_resident_holder(&areas, 1), PP_HOLDER_DATA);
    assert_int_equal(pp_resident_holder(&areas, 2), PP_HOLDER_UNKNOWN);
    pp_arena_release(&arena);
}

static const pp_resident_part *part_at(const pp_resident *resident, uintptr_t start)
{
    for (size_t i = 0; i < resident->part_count; i++) {
        if (resident->parts[i].start == start) {
            return &resident->parts[i];
        }
    }
    return NULL;
}

static double sum_of(const pp_resident *resident, uint32_t area)
{
    double sum = 0;
    for (size_t i = 0; i < resident->part_count; i++) {
        sum += resident->parts[i].area == area ? resident->parts[i].resident : 0;
    }
    return sum;
}

static void the_first_span_of_the_list_has_an_address(void **state)
{
    (void)state;
    pp_arena arena = PP_ARENA_INIT;
    pp_resident resident = read_areas(&arena);
    pp_resident_span spans[] = {
        {0x410000, 0x420000, PP_HOLDER_OWN, 0},
        {0x400000, 0x480000, PP_HOLDER_MAPPINGS, 7},
        {0x470000, 0x600000, PP_HOLDER_MAPPINGS, 8},
    };
    assert_int_equal(pp_resident_cut(&resident, spans, 3, &arena), 0);
    const struct {
        uintptr_t start, limit;
        pp_holder holder;
        uint64_t who;
    } expected[] = {
        {0x400000, 0x410000, PP_HOLDER_MAPPINGS, 7}, {0x410000, 0x420000, PP_HOLDER_OWN, 0},
        {0x420000, 0x480000, PP_HOLDER_MAPPINGS, 7}, {0x480000, 0x500000, PP_HOLDER_MAPPINGS, 8},
        {0x500000, 0x501000, PP_HOLDER_FILES, 8},    {0x501000, 0x502000, PP_HOLDER_SHARED, 8}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const pp_resident_part *part = part_at(&resident, expected[i].start);
        assert_non_null(part);
        assert_int_equal(part->limit, expected[i].limit);
        assert_int_equal(part->holder, expected[i].holder);
        assert_int_equal(part->who, expected[i].who);
    }
    pp_arena_release(&arena);
}

/* Half of the second mapping's pages are there; a block lies on the edge of what is there. */
static void pages_count_for_parts_and_blocks(void **state)
{
    (void)state;
    pp_arena arena = PP_ARENA_INIT;
    pp_resident resident = read_areas(&arena);
    pp_resident_block blocks[] = {
        {.start = 0x201010, .limit = 0x201110, .weight = 10},
        {.start = 0x47f800, .limit = 0x480800, .weight = 2}, /* half of it is there */
        {.start = 0x490000, .limit = 0x4a0000, .weight = 1}, /* nothing of it is there */
    };
    pp_resident_span spans[] = {{0x400000, 0x440000, PP_HOLDER_MAPPINGS, 7}};
    resident.blocks = blocks;
    resident.block_count = 3;
    assert_int_equal(pp_resident_cut(&resident, spans, 1, &arena), 0);
    assert_int_equal(resident.sum, 1392 << 10);
    for (size_t i = 0; i < AREAS; i++) {
        bool needs = pp_resident_needs_pages(&resident, i);
        assert_int_equal(needs, i == HEAP || i == MEMORY);
        if (i == HEAP) {
            pp_resident_add_pages(&resident, 0x200000, 0x200000 + (800 << 10), false);
        } else if (i == MEMORY) {
            pp_resident_add_pages(&resident, 0x400000, 0x410000, false);
            pp_resident_add_pages(&resident, 0x410000, 0x480000, false);
            pp_resident_add_pages(&resident, 0x4fe000, 0x500000, true);
        }
    }
    pp_resident_settle(&resident);
    assert_true(part_at(&resident, 0x400000)->resident == 256 << 10);
    assert_true(part_at(&resident, 0x440000)->resident == 256 << 10);
    assert_true(part_at(&resident, 0x440000)->swapped == 8 << 10);
    assert_true(part_at(&resident, 0x440000)->blocks == 2 * 2048);
    assert_true(part_at(&resident, 0x200000)->blocks == 10 * 256);
    assert_true(blocks[2].resident == 0);
    assert_true(part_at(&resident, 0x105000)->resident == 8 << 10);
    pp_arena_release(&arena);
}

/* Pages that came or went since the areas were read. */
static void parts_add_up_to_the_areas(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (int round = 0; round < 200; round++) {
        pp_arena arena = PP_ARENA_INIT;
        pp_resident resident = read_areas(&arena);
        pp_resident_span spans[20];
        for (size_t i = 0; i < 20; i++) {
            uintptr_t start = 0x1f0000 + pp_random_next(&random) % 0x320 * PAGE;
            spans[i] =
                (pp_resident_span){start, start + (1 + pp_random_next(&random) % 64) * PAGE,
                                   (pp_holder)(pp_random_next(&random) % PP_HOLDER_READING), i};
        }
        assert_int_equal(pp_resident_cut(&resident, spans, 20, &arena), 0);
        for (size_t i = 0; i < AREAS; i++) {
            const pp_map_line *map = &resident.areas.list[i].map;
            if (pp_resident_needs_pages(&resident, i)) {
                for (uintptr_t at = map->start; at < map->limit; at += PAGE) {
                    if (pp_random_next(&random) % 3 == 0) {
                        pp_resident_add_pages(&resident, at, at + PAGE, false);
                    }
                }
            }
        }
        pp_resident_settle(&resident);
        uintptr_t at = 0;
        for (size_t i = 0; i < resident.part_count; i++) {
            assert_true(resident.parts[i].start >= at);
            at = resident.parts[i].limit;
        }
        for (uint32_t i = 0; i < AREAS; i++) {
            double apart = sum_of(&resident, i) - (double)resident.areas.list[i].resident;
            assert_true(apart < 0.01 && apart > -0.01);
        }
        pp_arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_area_has_a_holder),
        cmocka_unit_test(the_program_break_is_no_variable),
        cmocka_unit_test(the_first_span_of_the_list_has_an_address),
        cmocka_unit_test(pages_count_for_parts_and_blocks),
        cmocka_unit_test(parts_add_up_to_the_areas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
