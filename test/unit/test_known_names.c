/* SPDX-License-Identifier: MIT
 *
 * test_known_names.c: names are read from a file once, for a minute. Whether the file is read shows
 * when it is gone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "elf_image.h"
#include "symbol/known_names.h"
#include "symbol/places.h"
#include "sys/clock.h"

#include <stdlib.h>
#include <unistd.h>

enum {
    FIRST_ID = 7,
    ID_SIZE = 20,
    BIAS_STEP = 0x100000,
    FIRST = TEXT_START, /* function "first": the first half of the code; the rest is "second" */
    SECOND = TEXT_START + 0x800,
    SECONDS = 60
};

static pp_arena arena = PP_ARENA_INIT;
static char path[64];
static uintptr_t next_bias = 0x10000000; /* nothing is loaded there */
static time_t later_s;

static int read_later(clockid_t clock, struct timespec *now)
{
    int error = clock_gettime(clock, now);
    now->tv_sec += later_s;
    return error;
}

static void write_file(uint8_t id_first, uint8_t id_size)
{
    static elf_image image;
    const image_options options = {
        .table_type = SHT_SYMTAB, .build_id_size = id_size, .build_id_first = id_first};
    const image_symbol symbols[] = {
        {"first", FIRST, SECOND - FIRST, STB_GLOBAL, STT_FUNC, TEXT},
        {"second", SECOND, TEXT_LIMIT - SECOND, STB_LOCAL, STT_FUNC, TEXT},
    };
    elf_image_make(&image, &options, symbols, 2);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(image.bytes, 1, image.size, file), image.size);
    assert_int_equal(fclose(file), 0);
}

static pp_mapping mapping_with(uint8_t id_first, uint8_t id_size)
{
    pp_mapping mapping = {.start = next_bias + TEXT_START,
                          .limit = next_bias + TEXT_LIMIT,
                          .bias = next_bias,
                          .offset = TEXT_START,
                          .path = path,
                          .build_id_size = id_size};
    for (unsigned i = 0; i < id_size; i++) {
        mapping.build_id[i] = (uint8_t)(id_first + i);
    }
    next_bias += BIAS_STEP;
    return mapping;
}

/* Other addresses than any before; the file is there. */
static pp_mapping new_mapping(void)
{
    write_file(FIRST_ID, ID_SIZE);
    return mapping_with(FIRST_ID, ID_SIZE);
}

static pp_symbol symbol_at(const pp_mapping *mapping, uintptr_t address)
{
    pp_symbol symbol = {.name = "not written"};
    uintptr_t run_time = mapping->bias + address;
    pp_known_names_resolve(mapping, 1, 0, &run_time, 1, &symbol, &arena);
    return symbol;
}

static const char *name_at(const pp_mapping *mapping, uintptr_t address)
{
    const char *name = symbol_at(mapping, address).name;
    return name != NULL ? name : "";
}

static void nothing_is_known_without_permission(void **state)
{
    (void)state;
    pp_mapping mapping = new_mapping();
    assert_string_equal(name_at(&mapping, FIRST), "first");
    unlink(path);
    assert_string_equal(name_at(&mapping, FIRST), "");
}

static void a_file_is_read_once(void **state)
{
    (void)state;
    pp_known_names_permit();
    pp_mapping mapping = new_mapping();
    assert_string_equal(name_at(&mapping, FIRST + 1), "first");
    assert_string_equal(name_at(&mapping, SECOND), "second");
    unlink(path);
    pp_symbol first = symbol_at(&mapping, FIRST + 1);
    pp_symbol second = symbol_at(&mapping, SECOND);
    assert_string_equal(first.name, "first");
    assert_int_equal(first.entry, mapping.bias + FIRST);
    assert_false(first.is_local || first.is_place);
    assert_string_equal(second.name, "second");
    assert_int_equal(second.entry, mapping.bias + SECOND);
    assert_true(second.is_local);
    assert_string_equal(name_at(&mapping, FIRST + 2), ""); /* nobody has asked for it before */
}

static void known_and_unknown_addresses_get_their_own_names(void **state)
{
    (void)state;
    pp_mapping mapping = new_mapping();
    pp_symbol symbols[4];
    const uintptr_t addresses[] = {mapping.bias + FIRST, mapping.bias + FIRST + 8,
                                   mapping.bias + SECOND, mapping.bias + SECOND + 8};
    name_at(&mapping, FIRST + 8);
    name_at(&mapping, SECOND);
    pp_known_names_resolve(&mapping, 1, 0, addresses, 4, symbols, &arena);
    assert_string_equal(symbols[0].name, "first");
    assert_string_equal(symbols[1].name, "first");
    assert_string_equal(symbols[2].name, "second");
    assert_string_equal(symbols[3].name, "second");
}

static void code_without_a_name_is_known_too(void **state)
{
    (void)state;
    pp_mapping mapping = new_mapping();
    mapping.limit += TEXT_LIMIT - TEXT_START;
    assert_string_equal(name_at(&mapping, TEXT_LIMIT + 1), "");
    unlink(path);
    assert_string_equal(name_at(&mapping, TEXT_LIMIT + 1), "");
}

static void another_object_at_the_addresses_has_its_own_names(void **state)
{
    (void)state;
    pp_mapping mapping = new_mapping();
    assert_string_equal(name_at(&mapping, FIRST), "first");
    unlink(path);
    pp_mapping other_build = mapping;
    other_build.build_id[0]++;
    assert_string_equal(name_at(&other_build, FIRST), "");
    pp_mapping other_file = mapping;
    other_file.path = "/nowhere";
    assert_string_equal(name_at(&other_file, FIRST), "");
}

static void an_object_without_a_build_id_is_read_again(void **state)
{
    (void)state;
    write_file(0, 0);
    pp_mapping mapping = mapping_with(0, 0);
    assert_string_equal(name_at(&mapping, FIRST), "first");
    unlink(path);
    assert_string_equal(name_at(&mapping, FIRST), "");
}

static void what_is_known_is_forgotten_after_a_minute(void **state)
{
    (void)state;
    pp_mapping mapping = new_mapping();
    later_s += SECONDS; /* so that the minute begins here */
    assert_string_equal(name_at(&mapping, FIRST), "first");
    unlink(path);
    later_s += SECONDS - 10;
    assert_string_equal(name_at(&mapping, FIRST), "first");
    later_s += 10;
    assert_string_equal(name_at(&mapping, FIRST), "");
}

/* The names of each file's `count` addresses. */
static void check_all(const pp_mapping *mapping, size_t count)
{
    uintptr_t *addresses = pp_arena_array(&arena, count, sizeof *addresses);
    pp_symbol *symbols = pp_arena_array(&arena, count, sizeof *symbols);
    assert_true(addresses != NULL && symbols != NULL);
    for (size_t i = 0; i < count; i++) {
        addresses[i] = mapping->bias + FIRST + i;
    }
    pp_known_names_resolve(mapping, 1, 0, addresses, count, symbols, &arena);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(symbols[i].name, FIRST + i < SECOND ? "first" : "second");
    }
}

static void what_does_not_fit_is_read_from_the_files(void **state)
{
    (void)state;
    enum { FILES = 20, ADDRESSES = TEXT_LIMIT - FIRST };
    pp_mapping mappings[FILES];
    later_s += SECONDS;
    for (size_t i = 0; i < FILES; i++) {
        mappings[i] = new_mapping();
        check_all(&mappings[i], ADDRESSES);
    }
    for (size_t i = 0; i < FILES; i++) {
        check_all(&mappings[i], ADDRESSES);
    }
    unlink(path);
    check_all(&mappings[0], ADDRESSES);
    assert_string_equal(name_at(&mappings[FILES - 1], FIRST), "");
}

static void a_child_of_fork_knows_names(void **state)
{
    (void)state;
    pp_mapping mapping = new_mapping();
    later_s += SECONDS;
    assert_string_equal(name_at(&mapping, FIRST), "first");
    unlink(path);
    pp_known_names_after_fork_in_child();
    assert_string_equal(name_at(&mapping, FIRST), "first");
}

static void what_is_forgotten_is_read_again(void **state)
{
    (void)state;
    pp_mapping mapping = new_mapping();
    assert_string_equal(name_at(&mapping, FIRST), "first");
    unlink(path);
    pp_known_names_forget();
    assert_string_equal(name_at(&mapping, FIRST), "");
    write_file(FIRST_ID, ID_SIZE);
    assert_string_equal(name_at(&mapping, FIRST), "first");
    unlink(path);
    assert_string_equal(name_at(&mapping, FIRST), ""); /* without a new permission */
}

static int begin(void **state)
{
    (void)state;
    int fd = -1;
    snprintf(path, sizeof path, "/tmp/test_known_names.XXXXXX");
    fd = mkstemp(path);
    pp_clock_reader = read_later;
    return fd >= 0 ? close(fd) : -1;
}

static int end(void **state)
{
    (void)state;
    unlink(path);
    pp_arena_release(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_known_without_permission),
        cmocka_unit_test(a_file_is_read_once),
        cmocka_unit_test(known_and_unknown_addresses_get_their_own_names),
        cmocka_unit_test(code_without_a_name_is_known_too),
        cmocka_unit_test(another_object_at_the_addresses_has_its_own_names),
        cmocka_unit_test(an_object_without_a_build_id_is_read_again),
        cmocka_unit_test(what_is_known_is_forgotten_after_a_minute),
        cmocka_unit_test(what_does_not_fit_is_read_from_the_files),
        cmocka_unit_test(a_child_of_fork_knows_names),
        cmocka_unit_test(what_is_forgotten_is_read_again),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
