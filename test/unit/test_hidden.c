/* SPDX-License-Identifier: MIT
 *
 * test_hidden.c: every hooked function that allocates is known as an allocator's, and few others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arch/malloc_list.h"
#include "symbol/hidden.h"

#define NAME_AND_SHAPE(name, shape) {#name, #shape},
static const char *const hooks[][2] = {PP_MALLOC_LIST(NAME_AND_SHAPE)};

static void all_that_allocates(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++) {
        const char *shape = hooks[i][1];
        bool frees = strcmp(shape, "FREE") == 0 || strcmp(shape, "RELEASE") == 0 ||
                     strcmp(shape, "DELETE") == 0;
        if (pp_symbol_is_allocator(hooks[i][0]) == frees)
            fail_msg("%s (%s)", hooks[i][0], shape);
    }
    assert_true(pp_symbol_is_allocator("reallocarray"));
    assert_true(pp_symbol_is_allocator("__libc_malloc"));
}

static void nothing_else(void **state)
{
    (void)state;
    const char *const others[] = {"",         "mallocate",   "my_malloc", "main",       "new",
                                  "strdup",   "_ZdlPv",      "_Zn",       "je_",        "free",
                                  "je_other", "tc_anything", "allocx",    "mallocxxxx", "_start"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (pp_symbol_is_allocator(others[i]))
            fail_msg("%s", others[i]);
    }
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
        cmocka_unit_test(all_that_allocates),
        cmocka_unit_test(nothing_else),
        cmocka_unit_test(roots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
