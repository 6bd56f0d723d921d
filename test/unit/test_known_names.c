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
#include <sys/resource.h>
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
static time_t now_s = 1000;              /* the clock, which stands still */
static void (*at_reading)(void);         /* is called once, while the memory is taken */

static int read_clock(clockid_t clock, struct timespec *now)
{
    void (*call)(void) = at_reading;
    (void)clock;
    *now = (struct timespec){.tv_sec = now_s};
    at_reading = NULL;
    if (call != NULL) {
        call();
    }
    return 0;
}

static void write_symbols(uint8_t id_first, uint8_t id_size, const image_symbol *symbols,
                          size_t count)
{
    static elf_image image;
    const image_options options = {
        .table_type = SHT_SYMTAB, .build_id_size = id_size, .build_id_first = id_first};
    elf_image_make(&image, &options, symbols, count);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(image.bytes, 1, image.size, file), image.size);
    assert_int_equal(fclose(file), 0);
}

static void write_file(uint8_t id_first, uint8_t id_size)
{
    const image_symbol symbols[] = {
        {"first", FIRST, SECOND - FIRST, STB_GLOBAL, STT_FUNC, TEXT},
        {"second", SECOND, TEXT_LIMIT - SECOND, STB_LOCAL, STT_FUNC, TEXT},
    };
    write_symbols(id_first, id_size, symbols, 2);
}

/* The same build, with a name for what has none, as a debug file would bring it. */
static void write_better_file(void)
{
    const image_symbol symbols[] = {
        {"first", FIRST, SECOND - FIRST, STB_GLOBAL, STT_FUNC, TEXT},
        {"late", TEXT_LIMIT, TEXT2_LIMIT - TEXT_LIMIT, STB_GLOBAL, STT_FUNC, TEXT2},
    };
    write_symbols(FIRST_ID, ID_SIZE, symbols, 2);
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
    mapping.limit = mapping.bias + TEXT2_LIMIT;
    assert_string_equal(name_at(&mapping, TEXT_LIMIT + 1), "");
    write_better_file();
    assert_string_equal(name_at(&mapping, TEXT_LIMIT + 1), "");
}

/* All addresses of a function get the same name. */
static void code_without_a_name_is_asked_for_again_with_the_unknown(void **state)
{
    (void)state;
    pp_mapping mapping = new_mapping();
    pp_symbol symbols[3];
    const uintptr_t addresses[] = {mapping.bias + FIRST, mapping.bias + TEXT_LIMIT + 1,
                                   mapping.bias + TEXT_LIMIT + 2};
    mapping.limit = mapping.bias + TEXT2_LIMIT;
    pp_known_names_resolve(&mapping, 1, 0, addresses, 2, symbols, &arena);
    assert_null(symbols[1].name);
    write_better_file();
    pp_known_names_resolve(&mapping, 1, 0, addresses, 3, symbols, &arena);
    assert_string_equal(symbols[0].name, "first");
    assert_string_equal(symbols[1].name, "late");
    assert_string_equal(symbols[2].name, "late");
}

/* With no descriptor left, no file can be opened. */
static void nothing_is_remembered_of_a_file_that_cannot_be_read(void **state)
{
    (void)state;
    struct rlimit usual;
    pp_mapping mapping = new_mapping();
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = usual.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    const char *name = name_at(&mapping, FIRST);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
    assert_string_equal(name, "");
    assert_string_equal(name_at(&mapping, FIRST), "first");
}

static void another_object_at_the_addresses_has_its_own_names(void **state)
{
    (void)state;
    for (int difference = 0; difference < 3; difference++) {
        pp_mapping mapping = new_mapping();
        pp_mapping other = mapping;
        uintptr_t address = mapping.bias + FIRST;
        pp_symbol symbol = {.name = "not written"};
        other.build_id[0] = (uint8_t)(other.build_id[0] + (difference == 0));
        other.path = difference == 1 ? "/nowhere" : path;
        other.bias -= difference == 2 ? SECOND - FIRST : 0;
        assert_string_equal(name_at(&mapping, FIRST), "first");
        unlink(path);
        pp_known_names_resolve(&other, 1, 0, &address, 1, &symbol, &arena);
        assert_null(symbol.name);
    }
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
    now_s += SECONDS; /* so that the minute begins here */
    assert_string_equal(name_at(&mapping, FIRST), "first");
    unlink(path);
    now_s += SECONDS - 1;
    assert_string_equal(name_at(&mapping, FIRST), "first");
    now_s += 1;
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
    now_s += SECONDS;
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

static void long_names_that_do_not_fit_are_read_from_the_file(void **state)
{
    (void)state;
    enum { NAME_BYTES = 4000, OBJECTS = 400 };
    char name[NAME_BYTES];
    pp_mapping first;
    pp_mapping last;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    const image_symbol symbol = {name, FIRST, SECOND - FIRST, STB_GLOBAL, STT_FUNC, TEXT};
    now_s += SECONDS;
    write_symbols(FIRST_ID, ID_SIZE, &symbol, 1);
    for (size_t i = 0; i < OBJECTS; i++) {
        last = mapping_with(FIRST_ID, ID_SIZE);
        first = i == 0 ? last : first;
        assert_string_equal(name_at(&last, FIRST), name);
    }
    unlink(path);
    assert_string_equal(name_at(&first, FIRST), name);
    assert_string_equal(name_at(&last, FIRST), "");
}

static void a_child_of_fork_knows_names(void **state)
{
    (void)state;
    pp_mapping mapping = new_mapping();
    now_s += SECONDS;
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

/* A signal's handler forks in the middle, and the child's returns: it reads files from then on. */
static void a_child_that_forked_in_the_middle_goes_without(void **state)
{
    (void)state;
    pp_mapping mapping = new_mapping();
    pp_known_names_permit();
    assert_string_equal(name_at(&mapping, FIRST), "first");
    at_reading = pp_known_names_after_fork_in_child;
    assert_string_equal(name_at(&mapping, FIRST), "first");
    assert_null(at_reading);
    assert_string_equal(name_at(&mapping, FIRST), "first");
    pp_known_names_forget();
    pp_known_names_permit();
    unlink(path);
    assert_string_equal(name_at(&mapping, FIRST), "");
}

static int begin(void **state)
{
    (void)state;
    int fd = -1;
    snprintf(path, sizeof path, "/tmp/test_known_names.XXXXXX");
    fd = mkstemp(path);
    pp_clock_reader = read_clock;
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
        cmocka_unit_test(code_without_a_name_is_asked_for_again_with_the_unknown),
        cmocka_unit_test(nothing_is_remembered_of_a_file_that_cannot_be_read),
        cmocka_unit_test(another_object_at_the_addresses_has_its_own_names),
        cmocka_unit_test(an_object_without_a_build_id_is_read_again),
        cmocka_unit_test(what_is_known_is_forgotten_after_a_minute),
        cmocka_unit_test(what_does_not_fit_is_read_from_the_files),
        cmocka_unit_test(long_names_that_do_not_fit_are_read_from_the_file),
        cmocka_unit_test(a_child_of_fork_knows_names),
        cmocka_unit_test(what_is_forgotten_is_read_again),
        cmocka_unit_test(a_child_that_forked_in_the_middle_goes_without), /* for good: the last */
    };
    return cmocka_run_group_tests(tests, begin, end);
}
