/* SPDX-License-Identifier: MIT
 *
 * test_omitted_functions.c: every hooked function that allocates is known as an allocator's, and few others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/malloc_list.h"
#include "symbol/omitted_functions.h"

#define NAME_AND_SHAPE(name, shape) {#name, #shape},
static const char *const hooks[][2] = {PP_MALLOC_LIST(NAME_AND_SHAPE)};

static void all_that_allocates(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++) {
        const char *shape = hooks[i][1];
        bool frees = strcmp(shape, "FREE") == 0 || strcmp(shape, "RELEASE") == 0 ||
                     strcmp(shape, "DELETE") == 0;
        if (pp_symbol_is_allocator(hooks[i][0], false) == frees)
            fail_msg("%s (%s)", hooks[i][0], shape);
    }
    assert_true(pp_symbol_is_allocator("reallocarray", false));
    assert_true(pp_symbol_is_allocator("__posix_memalign", false));
}

/* A function of the program's for its own use may be called calloc; not so operator new, or what
 * has a prefix. */
static void a_local_one_may_be_anything(void **state)
{
    (void)state;
    static const char *const local[] = {"malloc", "calloc", "reallocarray", "__malloc"};
    static const char *const reserved[] = {
        "__libc_malloc", "__libc_memalign", "_Znwm",          "_ZnamSt11align_val_tRKSt9nothrow_t",
        "_Znwm.cold",    "operator new",    "operator new[]", "tc_malloc"};
    for (size_t i = 0; i < sizeof local / sizeof *local; i++) {
        if (!pp_symbol_is_allocator(local[i], false) || pp_symbol_is_allocator(local[i], true))
            fail_msg("%s", local[i]);
    }
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
        if (!pp_symbol_is_allocator(reserved[i], true))
            fail_msg("%s", reserved[i]);
    }
}

static void nothing_else(void **state)
{
    (void)state;
    const char *const others[] = {"",
                                  "mallocate",
                                  "my_malloc",
                                  "main",
                                  "new",
                                  "strdup",
                                  "_ZdlPv",
                                  "_Zn",
                                  "je_",
                                  "free",
                                  "je_other",
                                  "tc_anything",
                                  "allocx",
                                  "mallocxxxx",
                                  "_start",
                                  "xmalloc",
                                  "g_malloc",
                                  "malloc_thing",
                                  "PyMem_Malloc",
                                  "_ZN3OwnnwEm",
                                  "_ZNSt15__new_allocatorIiE8allocateEmPKv",
                                  "operator",
                                  "__libc_free",
                                  "__libc_start_main"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (pp_symbol_is_allocator(others[i], false))
            fail_msg("%s", others[i]);
    }
}

static void libraries_of_allocators(void **state)
{
    (void)state;
    assert_true(pp_file_is_allocator("/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"));
    assert_true(pp_file_is_allocator("/opt/libtcmalloc_minimal.so.4.5.9"));
    assert_true(pp_file_is_allocator("libmimalloc-secure.so.2.0"));
    assert_false(pp_file_is_allocator("/usr/lib/libjemalloc/libc.so.6"));
    assert_false(pp_file_is_allocator("[vdso]"));
    assert_false(pp_file_is_allocator(""));
}

/* The hooks are linked into this test, unless a sanitizer has hooks of its own. */
extern const char pp_entry_malloc[] __attribute__((weak));

static void the_hooks_code(void **state)
{
    (void)state;
    bool is_hooked = pp_entry_malloc != NULL;
    assert_int_equal(pp_code_is_allocator((uintptr_t)malloc), is_hooked);
    assert_int_equal(pp_code_is_allocator((uintptr_t)valloc), is_hooked);
    assert_false(pp_code_is_allocator((uintptr_t)the_hooks_code));
    assert_false(pp_code_is_allocator(0));
}

static void roots(void **state)
{
    (void)state;
    enum { BOTH = PP_CODE_OF_PROGRAM | PP_CODE_OF_LIBC };
    static const struct {
        const char *name;
        unsigned code_of;
        pp_thread_root root;
    } cases[] = {
        {"_start", PP_CODE_OF_PROGRAM, PP_ROOT_ENTRY},
        {"_start", PP_CODE_OF_LOADER, PP_ROOT_ENTRY},
        {"_start", PP_CODE_OF_LIBC, PP_ROOT_NONE},
        {"_start", 0, PP_ROOT_NONE},
        {"clone", PP_CODE_OF_LIBC, PP_ROOT_CLONE},
        {"__clone3", PP_CODE_OF_LIBC, PP_ROOT_CLONE},
        {"clone", PP_CODE_OF_PROGRAM, PP_ROOT_NONE},
        {"clone", 0, PP_ROOT_NONE},
        {"clone3", PP_CODE_OF_LOADER, PP_ROOT_NONE},
        {"clone", BOTH, PP_ROOT_CLONE},
        {"start_thread", BOTH, PP_ROOT_THREAD},
        {"_start", BOTH, PP_ROOT_ENTRY},
        {"start_thread", PP_CODE_OF_LIBC, PP_ROOT_THREAD},
        {"start_thread", PP_CODE_OF_PROGRAM, PP_ROOT_NONE},
        {"start_thread", 0, PP_ROOT_NONE},
        {"main", BOTH, PP_ROOT_NONE},
        {"start", BOTH, PP_ROOT_NONE},
        {"", BOTH, PP_ROOT_NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (pp_symbol_thread_root(cases[i].name, cases[i].code_of) != cases[i].root)
            fail_msg("%s in %u", cases[i].name, cases[i].code_of);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_allocates), cmocka_unit_test(a_local_one_may_be_anything),
        cmocka_unit_test(nothing_else),       cmocka_unit_test(libraries_of_allocators),
        cmocka_unit_test(the_hooks_code),     cmocka_unit_test(roots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
