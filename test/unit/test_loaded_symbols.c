/* SPDX-License-Identifier: MIT
 *
 * test_loaded_symbols.c: what is found in the tables of a loaded object is what dlsym finds there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "modules/loader_state.h"
#include "sys/loaded_symbols.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static const struct link_map *map_of(void *library)
{
    const struct link_map *map = NULL;
    assert_int_equal(dlinfo(library, RTLD_DI_LINKMAP, &map), 0);
    return map;
}

static pp_loaded_symbols symbols_of(void *library)
{
    const struct link_map *map = map_of(library);
    pp_loaded_symbols symbols;
    pp_loaded_symbols_read(&symbols, map->l_ld, map->l_addr);
    return symbols;
}

/* ---- real libraries ---- */

/* How many symbols there are: one more than the last that a chain ends with. */
static uint32_t count_symbols(const pp_loaded_symbols *symbols)
{
    const uint32_t *header = symbols->gnu_hash;
    const uint32_t *buckets = header + 4 + header[2] * sizeof(ElfW(Addr)) / sizeof *header;
    const uint32_t *chains = buckets + header[0];
    uint32_t last = 0;
    for (uint32_t i = 0; i < header[0]; i++) {
        last = buckets[i] > last ? buckets[i] : last;
    }
    while (last != 0 && (chains[last - header[1]] & 1) == 0) {
        last++;
    }
    return last + 1;
}

/* What dlsym finds in the library itself, not in what it needs. A function that is chosen at run
 * time may lie elsewhere: gettimeofday in the vDSO. */
static uintptr_t by_loader(void *library, const char *name, bool chosen)
{
    Dl_info info;
    void *found = dlsym(library, name);
    if (found == NULL || (!chosen && (dladdr(found, &info) == 0 ||
                                      strcmp(info.dli_fname, map_of(library)->l_name) != 0))) {
        return 0;
    }
    return (uintptr_t)found;
}

static void compare_functions(const char *name, uint32_t least)
{
    void *library = dlopen(name, RTLD_NOW);
    if (library == NULL) {
        skip();
    }
    pp_loaded_symbols symbols = symbols_of(library);
    if (symbols.gnu_hash == NULL) {
        skip();
    }
    uint32_t count = count_symbols(&symbols);
    uint32_t compared = 0;
    for (uint32_t i = 1; i < count; i++) {
        const ElfW(Sym) *symbol = &symbols.symbols[i];
        unsigned type = ELF64_ST_TYPE(symbol->st_info);
        const char *symbol_name = symbols.names + symbol->st_name;
        if (symbol->st_shndx == SHN_UNDEF) {
            assert_int_equal(pp_loaded_symbols_find(&symbols, symbol_name), 0);
        } else if (type == STT_FUNC || type == STT_GNU_IFUNC) {
            uintptr_t found = pp_loaded_symbols_find(&symbols, symbol_name);
            uintptr_t expected = by_loader(library, symbol_name, type == STT_GNU_IFUNC);
            if (found != expected) {
                print_message("%s of %s\n", symbol_name, name);
            }
            assert_int_equal(found, expected);
            compared += found != 0;
        }
    }
    assert_true(compared >= least);
    assert_string_equal(symbols.soname != NULL ? symbols.soname : "libc.so",
                        name); /* musl has none */
    dlclose(library);
}

static void functions_of_libc_agree(void **state)
{
    (void)state;
    if (pp_loader_is_libc()) {
        compare_functions("libc.so", 1200);
    } else {
        compare_functions("libc.so.6", 1500);
    }
}

static void functions_of_libstdcxx_agree(void **state)
{
    (void)state;
    compare_functions("libstdc++.so.6", 2000);
}

static void functions_of_libz_agree(void **state)
{
    (void)state;
    compare_functions("libz.so.1", 50);
}

/* ---- every kind of symbol, either kind of hash table ---- */

static void *open_named(const char *style)
{
    char path[4096];
    const char *build = getenv("BUILD");
    snprintf(path, sizeof path, "%s/test/unit/named_%s.so", build != NULL ? build : ".", style);
    void *library = dlopen(path, RTLD_NOW);
    if (library == NULL) {
        print_message("%s\n", dlerror());
    }
    assert_non_null(library);
    return library;
}

static int call(const pp_loaded_symbols *symbols, const char *name)
{
    typedef int function(void);
    uintptr_t found = pp_loaded_symbols_find(symbols, name);
    return found != 0 ? ((function *)found)() : 0;
}

static void expect_named(void *library)
{
    static const char *const defined[] = {"plain",  "weak",           "protected",      "versioned",
                                          "chosen", "uses_elsewhere", "versioned_first"};
    static const char *const absent[] = {"hidden", "withdrawn", "elsewhere", "choice",
                                         "data",   "plai",      "plain2",    ""};
    pp_loaded_symbols symbols = symbols_of(library);
    for (size_t i = 0; i < sizeof defined / sizeof *defined; i++) {
        assert_int_not_equal(pp_loaded_symbols_find(&symbols, defined[i]), 0);
        if (strcmp(defined[i], "chosen") != 0 || !pp_loader_is_libc()) { /* musl chooses none */
            assert_ptr_equal(pp_loaded_symbols_find(&symbols, defined[i]),
                             dlsym(library, defined[i]));
        }
    }
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        assert_int_equal(pp_loaded_symbols_find(&symbols, absent[i]), 0);
    }
    assert_null(dlsym(library, "withdrawn"));
    assert_int_equal(call(&symbols, "plain"), 1);
    assert_int_equal(call(&symbols, "weak"), 2);
    assert_int_equal(call(&symbols, "protected"), 4);
    assert_int_equal(call(&symbols, "versioned"), 6);
    assert_int_equal(call(&symbols, "chosen"), 8);
    assert_int_equal(call(&symbols, "uses_elsewhere"), 3);
    assert_true(pp_loaded_symbols_needs(&symbols, "getppid"));
    assert_false(pp_loaded_symbols_needs(&symbols, "elsewhere")); /* a weak reference */
    assert_false(pp_loaded_symbols_needs(&symbols, "plain"));
    assert_false(pp_loaded_symbols_needs(&symbols, "nothing"));
}

static void the_gnu_hash_table_is_read(void **state)
{
    (void)state;
    void *library = open_named("gnu");
    pp_loaded_symbols symbols = symbols_of(library);
    assert_non_null(symbols.gnu_hash);
    assert_null(symbols.hash);
    expect_named(library);
    dlclose(library);
}

static void the_old_hash_table_is_read(void **state)
{
    (void)state;
    void *library = open_named("sysv");
    pp_loaded_symbols symbols = symbols_of(library);
    assert_null(symbols.gnu_hash);
    assert_non_null(symbols.hash);
    expect_named(library);
    dlclose(library);
}

/* GNU ld writes that the names of such a table would begin at symbol 1. */
static void references_beside_an_empty_table_are_found(void **state)
{
    (void)state;
    void *library = open_named("empty");
    pp_loaded_symbols symbols = symbols_of(library);
    assert_non_null(symbols.gnu_hash);
    assert_int_equal(pp_loaded_symbols_count(&symbols), 0);
    assert_true(pp_loaded_symbols_needs(&symbols, "getppid"));
    assert_false(pp_loaded_symbols_needs(&symbols, "needs_getppid"));
    assert_int_equal(pp_loaded_symbols_find(&symbols, "getppid"), 0);
    dlclose(library);
}

static void an_object_without_tables_defines_nothing(void **state)
{
    (void)state;
    static const ElfW(Dyn) empty[] = {{.d_tag = DT_NULL}};
    pp_loaded_symbols symbols;
    pp_loaded_symbols_read(&symbols, NULL, 0);
    assert_int_equal(pp_loaded_symbols_find(&symbols, "malloc"), 0);
    pp_loaded_symbols_read(&symbols, empty, 0x10000);
    assert_int_equal(pp_loaded_symbols_find(&symbols, "malloc"), 0);
    assert_false(pp_loaded_symbols_needs(&symbols, "malloc"));
    assert_null(symbols.soname);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_of_libc_agree),
        cmocka_unit_test(functions_of_libstdcxx_agree),
        cmocka_unit_test(functions_of_libz_agree),
        cmocka_unit_test(the_gnu_hash_table_is_read),
        cmocka_unit_test(the_old_hash_table_is_read),
        cmocka_unit_test(references_beside_an_empty_table_are_found),
        cmocka_unit_test(an_object_without_tables_defines_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
