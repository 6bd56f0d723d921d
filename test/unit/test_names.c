/* SPDX-License-Identifier: MIT
 *
 * test_names.c: which name an address gets, from made-up tables, from this program, its libc and
 * the vDSO; and which files are not believed.
 *
 * Libc: glibc
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "elf/build_id.h"
#include "elf_image.h"
#include "mmap_fault.h"
#include "symbol/names.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

enum { BIAS = 0x7f0000000000 };

static elf_image image;

/* The one address's symbol. */
static pp_symbol symbol_in_image(uint64_t own_address)
{
    static pp_arena arena = PP_ARENA_INIT;
    pp_arena_release(&arena);
    uintptr_t begin = (uintptr_t)image.bytes;
    pp_mapping mapping = {
        .start = begin,
        .limit = begin + image.size,
        .bias = begin,
        .path = "[x]",
        .in_memory = true,
    };
    uintptr_t address = begin + own_address;
    pp_symbol symbol;
    size_t resolved = pp_symbols_resolve(&mapping, &address, 1, &symbol, &arena);
    assert_int_equal(resolved, symbol.name != NULL);
    return symbol;
}

/* Its name, or "?". */
static const char *name_in_image(uint64_t own_address, uintptr_t *entry)
{
    const pp_symbol symbol = symbol_in_image(own_address);
    if (entry != NULL)
        *entry = symbol.entry - (uintptr_t)image.bytes;
    return symbol.name != NULL ? symbol.name : "?";
}

#define make_image(options, ...)                                                                   \
    do {                                                                                           \
        const image_symbol symbols_[] = {__VA_ARGS__};                                             \
        elf_image_make(&image, options, symbols_, sizeof(symbols_) / sizeof(symbols_[0]));         \
    } while (0)

static const image_options plain = {.table_type = SHT_SYMTAB};

static void sizes_are_half_open(void **state)
{
    (void)state;
    make_image(&plain, {"second", TEXT_START + 0x40, 0x20, STB_GLOBAL, STT_FUNC, TEXT},
               {"first", TEXT_START + 0x10, 0x10, STB_GLOBAL, STT_FUNC, TEXT});
    uintptr_t entry = 0;
    assert_string_equal(name_in_image(TEXT_START + 0x0f, NULL), "?");
    assert_string_equal(name_in_image(TEXT_START + 0x10, &entry), "first");
    assert_int_equal(entry, TEXT_START + 0x10);
    assert_string_equal(name_in_image(TEXT_START + 0x1f, &entry), "first");
    assert_int_equal(entry, TEXT_START + 0x10);
    assert_string_equal(name_in_image(TEXT_START + 0x20, NULL), "?");
    assert_string_equal(name_in_image(TEXT_START + 0x5f, NULL), "second");
    assert_string_equal(name_in_image(TEXT_START + 0x60, NULL), "?");
}

static void size_zero_reaches_to_the_next_symbol_of_its_section(void **state)
{
    (void)state;
    make_image(&plain, {"label", TEXT_START + 0x100, 0, STB_GLOBAL, STT_NOTYPE, TEXT},
               {"next", TEXT_START + 0x200, 0x10, STB_LOCAL, STT_FUNC, TEXT},
               {"last", TEXT_START + 0x800, 0, STB_LOCAL, STT_FUNC, TEXT},
               {"other", TEXT_LIMIT + 0x80, 0x10, STB_GLOBAL, STT_FUNC, TEXT2});
    assert_string_equal(name_in_image(TEXT_START + 0xff, NULL), "?");
    assert_string_equal(name_in_image(TEXT_START + 0x100, NULL), "label");
    assert_string_equal(name_in_image(TEXT_START + 0x1ff, NULL), "label");
    assert_string_equal(name_in_image(TEXT_START + 0x200, NULL), "next");
    assert_string_equal(name_in_image(TEXT_START + 0x210, NULL), "?"); /* next knew its end */
    assert_string_equal(name_in_image(TEXT_START + 0x800, NULL), "last");
    assert_string_equal(name_in_image(TEXT_LIMIT - 1, NULL), "last");
    assert_string_equal(name_in_image(TEXT_LIMIT, NULL), "?"); /* another section */
    assert_string_equal(name_in_image(TEXT_LIMIT + 0x80, NULL), "other");
}

static void size_zero_does_not_reach_far_where_local_symbols_are_missing(void **state)
{
    (void)state;
    const image_options dynamic = {.table_type = SHT_DYNSYM};
    make_image(&dynamic, {"last", TEXT_START + 0x100, 0, STB_GLOBAL, STT_FUNC, TEXT});
    assert_string_equal(name_in_image(TEXT_START + 0x1ff, NULL), "last");
    assert_string_equal(name_in_image(TEXT_START + 0x200, NULL), "?");
    /* An assembler that knows no sizes gives no type, either. */
    make_image(&dynamic, {"kernel", TEXT_START + 0x100, 0, STB_GLOBAL, STT_NOTYPE, TEXT},
               {"next", TEXT_START + 0x700, 0, STB_GLOBAL, STT_NOTYPE, TEXT});
    assert_string_equal(name_in_image(TEXT_START + 0x6ff, NULL), "kernel");
    assert_string_equal(name_in_image(TEXT_START + 0x700, NULL), "next");
}

static void aliases_have_an_order(void **state)
{
    (void)state;
    make_image(&plain, {"local", TEXT_START, 0x10, STB_LOCAL, STT_FUNC, TEXT},
               {"weak", TEXT_START, 0x10, STB_WEAK, STT_FUNC, TEXT},
               {"__global", TEXT_START, 0x10, STB_GLOBAL, STT_FUNC, TEXT},
               {"__a", TEXT_START + 0x10, 0x10, STB_GLOBAL, STT_FUNC, TEXT},
               {"_c", TEXT_START + 0x10, 0x10, STB_GLOBAL, STT_FUNC, TEXT},
               {"_b", TEXT_START + 0x10, 0x10, STB_GLOBAL, STT_FUNC, TEXT},
               {"zz", TEXT_START + 0x20, 0x10, STB_WEAK, STT_FUNC, TEXT},
               {"zy", TEXT_START + 0x20, 0x10, STB_WEAK, STT_GNU_IFUNC, TEXT},
               {"zx", TEXT_START + 0x20, 0x10, STB_LOCAL, STT_FUNC, TEXT},
               {"sized", TEXT_START + 0x30, 0x10, STB_LOCAL, STT_FUNC, TEXT},
               {"label", TEXT_START + 0x30, 0, STB_GLOBAL, STT_NOTYPE, TEXT},
               {"label_b", TEXT_START + 0x50, 0, STB_GLOBAL, STT_NOTYPE, TEXT},
               {"label_a", TEXT_START + 0x50, 0, STB_GLOBAL, STT_NOTYPE, TEXT});
    assert_string_equal(name_in_image(TEXT_START, NULL), "__global");
    assert_string_equal(name_in_image(TEXT_START + 0x10, NULL), "_b");
    assert_string_equal(name_in_image(TEXT_START + 0x20, NULL), "zy");
    assert_string_equal(name_in_image(TEXT_START + 0x30, NULL), "sized");
    assert_string_equal(name_in_image(TEXT_START + 0x50, NULL), "label_a");
    assert_false(symbol_in_image(TEXT_START).is_local);
    assert_false(symbol_in_image(TEXT_START + 0x20).is_local); /* weak */
    assert_true(symbol_in_image(TEXT_START + 0x30).is_local);
    assert_false(symbol_in_image(TEXT_START + 0x50).is_local); /* without a size */
}

static void what_is_no_function_is_no_name(void **state)
{
    (void)state;
    make_image(&plain, {"function", TEXT_START, 0x100, STB_LOCAL, STT_FUNC, TEXT},
               {"object", TEXT_START, 0x100, STB_GLOBAL, STT_OBJECT, TEXT},
               {"section", TEXT_START, 0x100, STB_GLOBAL, STT_SECTION, TEXT},
               {"file", TEXT_START, 0x100, STB_GLOBAL, STT_FILE, SHN_ABS},
               {"tls", TEXT_START, 0x100, STB_GLOBAL, STT_TLS, TEXT},
               {"undefined", TEXT_START, 0x100, STB_GLOBAL, STT_FUNC, SHN_UNDEF},
               {"absolute", TEXT_START, 0x100, STB_GLOBAL, STT_FUNC, SHN_ABS},
               {"$x", TEXT_START, 0, STB_LOCAL, STT_NOTYPE, TEXT},
               {"jump_target", TEXT_START + 0x20, 0, STB_LOCAL, STT_NOTYPE, TEXT},
               {"", TEXT_START + 0x200, 0x100, STB_GLOBAL, STT_FUNC, TEXT});
    assert_string_equal(name_in_image(TEXT_START + 0x30, NULL), "function");
    assert_string_equal(name_in_image(TEXT_START + 0x210, NULL), "?");
}

static void versions_are_no_part_of_the_name(void **state)
{
    (void)state;
    make_image(&plain, {"memcpy@@GLIBC_2.14", TEXT_START, 0x10, STB_GLOBAL, STT_FUNC, TEXT},
               {"memcpy@GLIBC_2.2.5", TEXT_START + 0x10, 0x10, STB_GLOBAL, STT_FUNC, TEXT},
               {"@odd", TEXT_START + 0x20, 0x10, STB_GLOBAL, STT_FUNC, TEXT});
    assert_string_equal(name_in_image(TEXT_START, NULL), "memcpy");
    assert_string_equal(name_in_image(TEXT_START + 0x10, NULL), "memcpy");
    assert_string_equal(name_in_image(TEXT_START + 0x20, NULL), "@odd");
}

static void long_names_are_whole(void **state)
{
    (void)state;
    static char left[1500], right[1500];
    memset(left, 'n', sizeof(left) - 1);
    memset(right, 'n', sizeof(right) - 1);
    left[1400] = 'b'; /* they differ only beyond what is read first */
    right[1400] = 'a';
    make_image(&plain, {left, TEXT_START, 0x10, STB_GLOBAL, STT_FUNC, TEXT},
               {right, TEXT_START, 0x10, STB_GLOBAL, STT_FUNC, TEXT});
    assert_string_equal(name_in_image(TEXT_START + 1, NULL), right);
    make_image(&plain, {right, TEXT_START, 0x10, STB_GLOBAL, STT_FUNC, TEXT},
               {left, TEXT_START, 0x10, STB_GLOBAL, STT_FUNC, TEXT});
    assert_string_equal(name_in_image(TEXT_START + 1, NULL), right);
}

static void without_sections_the_loader_s_tables_serve(void **state)
{
    (void)state;
    for (int gnu_hash = 0; gnu_hash < 2; gnu_hash++) {
        image_options options = {
            .table_type = SHT_DYNSYM, .no_sections = true, .gnu_hash = gnu_hash != 0};
        make_image(&options, {"one", TEXT_START, 0x10, STB_GLOBAL, STT_FUNC, TEXT},
                   {"two", TEXT_START + 0x10, 0x10, STB_GLOBAL, STT_FUNC, TEXT},
                   {"three", TEXT_START + 0x20, 0x10, STB_GLOBAL, STT_FUNC, TEXT});
        assert_string_equal(name_in_image(TEXT_START + 0x0f, NULL), "one");
        assert_string_equal(name_in_image(TEXT_START + 0x1f, NULL), "two");
        assert_string_equal(name_in_image(TEXT_START + 0x2f, NULL), "three");
    }
    image_options options = {.table_type = SHT_DYNSYM};
    make_image(&options, {"dynamic", TEXT_START, 0x10, STB_GLOBAL, STT_FUNC, TEXT});
    assert_string_equal(name_in_image(TEXT_START, NULL), "dynamic");
}

/* The naive twin: asks every symbol about every address. Random tables without ties. */
static void many_addresses_agree_with_a_naive_search(void **state)
{
    (void)state;
    enum { SYMBOLS = 100, ADDRESSES = 500 };
    static image_symbol symbols[SYMBOLS];
    static char names[SYMBOLS][16];
    uint32_t seed = 3;
    for (int round = 0; round < 20; round++) {
        uint64_t at = TEXT_START;
        for (int i = 0; i < SYMBOLS; i++) {
            seed = seed * 1664525 + 1013904223;
            uint64_t size = (seed >> 16) % 30;
            snprintf(names[i], sizeof(names[i]), "f%d", i);
            symbols[i] = (image_symbol){names[i], at, size, STB_GLOBAL, STT_FUNC, TEXT};
            at += size + 1 + (seed >> 24) % 9;
        }
        for (int i = 0; i < SYMBOLS; i++) { /* the table is in no order */
            seed = seed * 1664525 + 1013904223;
            image_symbol other = symbols[(seed >> 16) % SYMBOLS];
            symbols[(seed >> 16) % SYMBOLS] = symbols[i];
            symbols[i] = other;
        }
        elf_image_make(&image, &plain, symbols, SYMBOLS);

        uintptr_t begin = (uintptr_t)image.bytes;
        pp_mapping mapping = {.start = begin,
                              .limit = begin + image.size,
                              .bias = begin,
                              .path = "[x]",
                              .in_memory = true};
        uintptr_t addresses[ADDRESSES];
        pp_symbol found[ADDRESSES];
        uint64_t step = 0;
        for (int i = 0; i < ADDRESSES; i++) {
            seed = seed * 1664525 + 1013904223;
            addresses[i] = begin + TEXT_START + (step += (seed >> 16) % 9);
        }
        pp_arena arena = PP_ARENA_INIT;
        size_t expected_count = 0;
        size_t count = pp_symbols_resolve(&mapping, addresses, ADDRESSES, found, &arena);
        for (int i = 0; i < ADDRESSES; i++) {
            uint64_t own = addresses[i] - begin;
            const image_symbol *best = NULL;
            for (int k = 0; k < SYMBOLS; k++) {
                if (symbols[k].value <= own && (best == NULL || symbols[k].value > best->value))
                    best = &symbols[k];
            }
            if (best != NULL && best->size != 0 && own >= best->value + best->size)
                best = NULL;
            if (best != NULL && own >= TEXT_LIMIT)
                best = NULL;
            expected_count += best != NULL;
            if (best == NULL) {
                assert_null(found[i].name);
            } else {
                assert_non_null(found[i].name);
                assert_string_equal(found[i].name, best->name);
                assert_int_equal(found[i].entry, best->value + begin);
            }
        }
        assert_int_equal(count, expected_count);
        pp_arena_release(&arena);
    }
}

/* ---- Files --------------------------------------------------------------------------------- */

static void write_image(const char *path)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(image.bytes, 1, image.size, file), image.size);
    assert_int_equal(fclose(file), 0);
}

static size_t resolve_file(const char *path, uint8_t id_size, uint8_t id_first)
{
    pp_mapping mapping = {.start = BIAS + TEXT_START,
                          .limit = BIAS + TEXT2_LIMIT,
                          .offset = TEXT_START,
                          .bias = BIAS,
                          .path = path,
                          .build_id_size = id_size};
    for (unsigned i = 0; i < id_size; i++)
        mapping.build_id[i] = (uint8_t)(id_first + i);
    uintptr_t address = BIAS + TEXT_START + 4;
    pp_symbol symbol;
    pp_arena arena = PP_ARENA_INIT;
    size_t count = pp_symbols_resolve(&mapping, &address, 1, &symbol, &arena);
    if (count == 1) {
        assert_string_equal(symbol.name, "victim");
        assert_int_equal(symbol.entry, BIAS + TEXT_START);
    }
    pp_arena_release(&arena);
    return count;
}

static void only_the_same_build_is_read(void **state)
{
    (void)state;
    char path[] = "/tmp/test_names.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);

    image_options with_id = {.table_type = SHT_SYMTAB, .build_id_size = 20, .build_id_first = 9};
    make_image(&with_id, {"victim", TEXT_START, 0x10, STB_GLOBAL, STT_FUNC, TEXT});
    write_image(path);
    assert_int_equal(resolve_file(path, 20, 9), 1);
    assert_int_equal(resolve_file(path, 20, 10), 0);
    assert_int_equal(resolve_file(path, 16, 9), 0);
    assert_int_equal(resolve_file(path, 0, 0), 0);

    make_image(&plain, {"victim", TEXT_START, 0x10, STB_GLOBAL, STT_FUNC, TEXT});
    write_image(path);
    assert_int_equal(resolve_file(path, 0, 0), 1);
    assert_int_equal(resolve_file(path, 20, 9), 0);
    unlink(path);
}

static void unreadable_files_resolve_nothing(void **state)
{
    (void)state;
    assert_int_equal(resolve_file("/nonexistent/file", 0, 0), 0);
    assert_int_equal(resolve_file("/tmp", 0, 0), 0);
    assert_int_equal(resolve_file("/dev/null", 0, 0), 0);
    assert_int_equal(resolve_file("/proc/self/maps", 0, 0), 0);
    assert_int_equal(resolve_file("relative", 0, 0), 0);
    assert_int_equal(resolve_file("", 0, 0), 0);
    assert_int_equal(resolve_file(NULL, 0, 0), 0);
}

/* ---- What is loaded here ------------------------------------------------------------------- */

__attribute__((noinline)) static int victim_static(int n)
{
    __asm__ volatile("" : "+r"(n));
    return n * 3 + 1;
}

typedef struct search {
    uintptr_t address;
    pp_mapping mapping;
    char path[4096];
} search;

static int find_object(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    search *s = context;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *load = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + load->p_vaddr;
        if (load->p_type != PT_LOAD || s->address < start || s->address >= start + load->p_memsz)
            continue;
        s->mapping = (pp_mapping){.start = start & ~(uintptr_t)4095,
                                  .limit = (start + load->p_memsz + 4095) & ~(uintptr_t)4095,
                                  .offset = load->p_offset & ~(uint64_t)4095,
                                  .bias = info->dlpi_addr,
                                  .path = s->path};
        pp_elf_build_id(info->dlpi_phdr, info->dlpi_phnum, info->dlpi_addr, s->mapping.build_id,
                        &s->mapping.build_id_size);
        if (realpath(info->dlpi_name[0] != '\0' ? info->dlpi_name : "/proc/self/exe", s->path) ==
            NULL)
            strcpy(s->path, "[vdso]");
        s->mapping.in_memory = s->path[0] == '[';
        return 1;
    }
    return 0;
}

static const char *name_here(uintptr_t address, pp_arena *arena)
{
    static search s;
    s = (search){.address = address};
    assert_int_equal(dl_iterate_phdr(find_object, &s), 1);
    pp_symbol symbol;
    pp_symbols_resolve(&s.mapping, &address, 1, &symbol, arena);
    return symbol.name != NULL ? symbol.name : "?";
}

static void this_program_and_its_libraries(void **state)
{
    (void)state;
    pp_arena arena = PP_ARENA_INIT;
    assert_string_equal(name_here((uintptr_t)victim_static + 1, &arena), "victim_static");
    assert_string_equal(name_here((uintptr_t)pp_symbols_resolve, &arena), "pp_symbols_resolve");
    assert_string_equal(name_here((uintptr_t)l64a + 3, &arena), "l64a");
    assert_int_equal(victim_static(1), 4);
    pp_arena_release(&arena);
}

/* An upgrade has put another file, or none, where this program came from. */
static void a_replaced_program_is_found_by_its_build_id(void **state)
{
    (void)state;
    static search s;
    uintptr_t address = (uintptr_t)victim_static + 1;
    s = (search){.address = address};
    assert_int_equal(dl_iterate_phdr(find_object, &s), 1);
    if (s.mapping.build_id_size == 0)
        skip(); /* linked without one */
    const char *const paths[] = {"/nonexistent/program (deleted)", "/bin/sh"};
    pp_arena arena = PP_ARENA_INIT;
    for (int i = 0; i < 2; i++) {
        pp_symbol symbol;
        s.mapping.path = paths[i];
        assert_int_equal(pp_symbols_resolve(&s.mapping, &address, 1, &symbol, &arena), 1);
        assert_string_equal(symbol.name, "victim_static");
    }
    s.mapping.build_id[0] ^= 1;
    pp_symbol symbol;
    assert_int_equal(pp_symbols_resolve(&s.mapping, &address, 1, &symbol, &arena), 0);
    pp_arena_release(&arena);
}

/* Its file is out of reach, or another one by now: what is loaded of it still has the dynamic
 * symbols. */
static void a_file_that_is_gone_is_read_as_it_is_loaded(void **state)
{
    (void)state;
    static search s;
    uintptr_t addresses[] = {(uintptr_t)l64a + 3, 0};
    s = (search){.address = addresses[0]};
    assert_int_equal(dl_iterate_phdr(find_object, &s), 1);
    addresses[1] = s.mapping.limit - 1; /* behind the last function */
    const char *const paths[] = {"/nonexistent/libc.so.6 (deleted)", "/bin/sh"};
    pp_arena arena = PP_ARENA_INIT;
    pp_symbol symbols[2];
    for (int i = 0; i < 2; i++) {
        s.mapping.path = paths[i];
        assert_int_equal(pp_symbols_resolve(&s.mapping, addresses, 2, symbols, &arena), 1);
        assert_string_equal(symbols[0].name, "l64a");
        assert_int_equal(symbols[0].entry, (uintptr_t)l64a);
        assert_null(symbols[1].name);
    }
    pp_mapping nothing = s.mapping;
    nothing.bias = nothing.start = BIAS - 4096 * 4096;
    assert_int_equal(pp_symbols_resolve(&nothing, addresses, 1, symbols, &arena), 0);
    s.mapping.build_id[0] ^= 1; /* something else has been loaded there */
    assert_int_equal(pp_symbols_resolve(&s.mapping, addresses, 1, symbols, &arena),
                     s.mapping.build_id_size == 0);
    pp_arena_release(&arena);
}

/* No header says where clock_gettime lies in the vDSO: it is among the names of all its bytes. */
static void the_vdso(void **state)
{
    (void)state;
    uintptr_t begin = getauxval(AT_SYSINFO_EHDR);
    if (begin == 0)
        skip();
    static search s;
    s = (search){.address = begin + 64};
    assert_int_equal(dl_iterate_phdr(find_object, &s), 1);
    assert_true(s.mapping.in_memory);
    pp_arena arena = PP_ARENA_INIT;
    size_t count = s.mapping.limit - s.mapping.start;
    uintptr_t *addresses = pp_arena_array(&arena, count, sizeof(*addresses));
    pp_symbol *symbols = pp_arena_array(&arena, count, sizeof(*symbols));
    for (size_t i = 0; i < count; i++)
        addresses[i] = s.mapping.start + i;
    assert_true(pp_symbols_resolve(&s.mapping, addresses, count, symbols, &arena) > 0);
    bool seen = false;
    for (size_t i = 0; i < count; i++)
        seen |= symbols[i].name != NULL && strstr(symbols[i].name, "clock_gettime") != NULL;
    assert_true(seen);
    pp_arena_release(&arena);
}

/* ---- Memory -------------------------------------------------------------------------------- */

static int resolve_one(void *mapping)
{
    uintptr_t address = ((pp_mapping *)mapping)->start + TEXT_START;
    pp_symbol symbol;
    pp_arena arena = PP_ARENA_INIT;
    bool resolved = pp_symbols_resolve(mapping, &address, 1, &symbol, &arena) == 1;
    assert_int_equal(symbol.name != NULL, resolved);
    pp_arena_release(&arena);
    return resolved ? 0 : -ENOMEM;
}

static void refused_memory_resolves_nothing_and_leaks_nothing(void **state)
{
    (void)state;
    needs_mmap_fault();
    make_image(&plain, {"victim", TEXT_START, 0x10, STB_GLOBAL, STT_FUNC, TEXT});
    uintptr_t begin = (uintptr_t)image.bytes;
    pp_mapping mapping = {.start = begin,
                          .limit = begin + image.size,
                          .bias = begin,
                          .path = "[x]",
                          .in_memory = true};
    assert_in_range(mappings_needed(resolve_one, &mapping), 1, 18);
    pp_arena arena = PP_ARENA_INIT;
    assert_int_equal(pp_symbols_resolve(&mapping, NULL, 0, NULL, &arena), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_half_open),
        cmocka_unit_test(size_zero_reaches_to_the_next_symbol_of_its_section),
        cmocka_unit_test(size_zero_does_not_reach_far_where_local_symbols_are_missing),
        cmocka_unit_test(aliases_have_an_order),
        cmocka_unit_test(what_is_no_function_is_no_name),
        cmocka_unit_test(versions_are_no_part_of_the_name),
        cmocka_unit_test(long_names_are_whole),
        cmocka_unit_test(without_sections_the_loader_s_tables_serve),
        cmocka_unit_test(many_addresses_agree_with_a_naive_search),
        cmocka_unit_test(only_the_same_build_is_read),
        cmocka_unit_test(unreadable_files_resolve_nothing),
        cmocka_unit_test(this_program_and_its_libraries),
        cmocka_unit_test(a_replaced_program_is_found_by_its_build_id),
        cmocka_unit_test(a_file_that_is_gone_is_read_as_it_is_loaded),
        cmocka_unit_test(the_vdso),
        cmocka_unit_test(refused_memory_resolves_nothing_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
