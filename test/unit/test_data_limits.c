/* SPDX-License-Identifier: MIT
 *
 * test_data_limits.c: where variables end, on a made-up library; a large block that the kernel has joined with
 * them is found, and is not taken for variables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "kinds/heap/data_limits.h"
#include "kinds/heap/libc_arenas.h"
#include "kinds/heap/resident.h"

#include <link.h>

/* Pages of up to 64 KiB. */
enum { LIBRARY = 0x100000, VARIABLES = 0x130000, BLOCK = 0x150000, LIMIT = 0x300000, AFTER = 3 };

static const char text[] = "100000-110000 r--p 00000000 fe:00 1   /lib/a\nRss: 4 kB\n"
                           "110000-120000 r-xp 00010000 fe:00 1   /lib/a\nRss: 4 kB\n"
                           "120000-130000 rw-p 00020000 fe:00 1   /lib/a\nRss: 4 kB\n"
                           "130000-300000 rw-p 00000000 00:00 0 \nRss: 1000 kB\n";

static struct {
    ElfW(Ehdr) header;
    ElfW(Phdr) segments[2];
} library;

static const uint64_t large[2] = {0, (LIMIT - BLOCK) | 2};

static bool never(const pp_memory *memory, void *to, uintptr_t from, size_t size)
{
    (void)memory;
    (void)to;
    fail_msg("%zu bytes from %#lx", size, (unsigned long)from);
    return false;
}

static size_t copy_part(const pp_memory *memory, void *to, uintptr_t from, size_t size)
{
    (void)memory;
    if (from >= LIBRARY && from + size <= LIBRARY + sizeof library) {
        memcpy(to, (const char *)&library + (from - LIBRARY), size);
        return size;
    }
    if (from == BLOCK && size == sizeof large) {
        memcpy(to, large, size);
        return size;
    }
    return 0;
}

static const pp_memory memory = {never, copy_part};

static void set_library(uintptr_t end)
{
    memset(&library, 0, sizeof library);
    memcpy(library.header.e_ident, ELFMAG, SELFMAG);
    library.header.e_phoff = sizeof library.header;
    library.header.e_phnum = 2;
    library.segments[0] = (ElfW(Phdr)){.p_type = PT_LOAD, .p_memsz = 0x20000};
    library.segments[1] =
        (ElfW(Phdr)){.p_type = PT_LOAD, .p_vaddr = 0x28000, .p_memsz = end - LIBRARY - 0x28000};
}

static uintptr_t find(pp_arena *arena, pp_smaps *areas)
{
    char *copy = pp_arena_text(arena, text, sizeof text - 1);
    assert_int_equal(pp_smaps_parse(copy, sizeof text - 1, arena, areas), 0);
    pp_data_limits_find(areas, &memory);
    for (size_t i = 0; i < AFTER; i++) {
        assert_int_equal(areas->list[i].data_limit, 0);
    }
    return areas->list[AFTER].data_limit;
}

static void the_headers_say_where_variables_end(void **state)
{
    (void)state;
    pp_arena arena = PP_ARENA_INIT;
    pp_smaps areas;
    set_library(BLOCK - 0x100);
    assert_int_equal(find(&arena, &areas), BLOCK);
    set_library(VARIABLES);
    assert_int_equal(find(&arena, &areas), VARIABLES);
    assert_int_equal(pp_resident_holder(&areas, AFTER), PP_HOLDER_UNKNOWN);
    pp_arena_release(&arena);
}

static void little_memory_is_not_worth_the_pages(void **state)
{
    (void)state;
    pp_arena arena = PP_ARENA_INIT;
    pp_smaps areas;
    set_library(BLOCK);
    find(&arena, &areas);
    areas.list[AFTER].data_limit = 0;
    areas.list[AFTER].resident = 100 << 10;
    pp_data_limits_find(&areas, &memory);
    assert_int_equal(areas.list[AFTER].data_limit, 0);
    pp_arena_release(&arena);
}

static void bad_headers_say_nothing(void **state)
{
    (void)state;
    pp_arena arena = PP_ARENA_INIT;
    pp_smaps areas;
    set_library(BLOCK);
    library.header.e_ident[0] = 0;
    assert_int_equal(find(&arena, &areas), 0);
    set_library(BLOCK);
    library.header.e_phnum = UINT16_MAX;
    assert_int_equal(find(&arena, &areas), 0);
    set_library(BLOCK);
    library.header.e_phoff = 1 << 20;
    assert_int_equal(find(&arena, &areas), 0);
    assert_int_equal(pp_resident_holder(&areas, AFTER), PP_HOLDER_DATA);
    pp_arena_release(&arena);
}

static void what_is_joined_with_variables_is_cut_off(void **state)
{
    (void)state;
    pp_arena arena = PP_ARENA_INIT;
    pp_resident resident = {.part = 0};
    pp_libc_arenas found;
    set_library(BLOCK - 0x100);
    find(&arena, &resident.areas);
    assert_int_equal(pp_libc_arenas_find(&resident.areas, &memory, NULL, &arena, &found), 0);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.spans[0].start, BLOCK);
    assert_int_equal(found.spans[0].limit, LIMIT);
    assert_int_equal(pp_resident_cut(&resident, NULL, 0, &arena), 0);
    assert_int_equal(resident.part_count, AFTER + 2);
    assert_int_equal(resident.parts[AFTER].holder, PP_HOLDER_DATA);
    assert_int_equal(resident.parts[AFTER].limit, BLOCK);
    assert_int_equal(resident.parts[AFTER + 1].holder, PP_HOLDER_UNKNOWN);
    assert_int_equal(resident.parts[AFTER + 1].limit, LIMIT);
    pp_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_headers_say_where_variables_end),
        cmocka_unit_test(little_memory_is_not_worth_the_pages),
        cmocka_unit_test(bad_headers_say_nothing),
        cmocka_unit_test(what_is_joined_with_variables_is_cut_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
