/* SPDX-License-Identifier: MIT
 *
 * test_libc.c: libc's own functions are found behind a program's that have their names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modules/libc.h"
#include "modules/loader_state.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/* A sanitizer's run-time library calls these before anything of ours may run. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define REPLACES 0
#else
#define REPLACES 1
#endif

static unsigned calls_of_ours;

#if REPLACES
/* In the place of a sanitizer's, or of one that answers from a list of its own. */
int dl_iterate_phdr(int (*visit)(struct dl_phdr_info *, size_t, void *), void *context)
{
    typedef int iterate(int (*)(struct dl_phdr_info *, size_t, void *), void *);
    calls_of_ours++;
    return ((iterate *)pp_libc_function("dl_iterate_phdr"))(visit, context);
}
#endif

static const char *object_of(uintptr_t address)
{
    Dl_info info;
    assert_int_not_equal(dladdr((void *)address, &info), 0);
    const char *slash = strrchr(info.dli_fname, '/');
    return slash != NULL ? slash + 1 : info.dli_fname;
}

static void functions_of_libc_are_found(void **state)
{
    (void)state;
    static const char *const names[] = {"dl_iterate_phdr", "malloc", "fopen"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        uintptr_t function = pp_libc_function(names[i]);
        assert_int_not_equal(function, 0);
        const char *object = object_of(function);
        bool is_musl = pp_loader_is_libc() && strncmp(object, "ld-musl-", 8) == 0;
        assert_true(is_musl || strncmp(object, "libc", 4) == 0);
    }
    assert_int_equal(pp_libc_function("no_such_function"), 0);
    assert_int_equal(pp_libc_function("dlsym_"), 0);
}

static int count(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)info;
    (void)size;
    ++*(unsigned *)context;
    return 0;
}

static void the_programs_dl_iterate_phdr_is_not_called(void **state)
{
    (void)state;
    unsigned objects = 0;
    calls_of_ours = 0;
    assert_int_equal(pp_libc_each_object(count, &objects), 0);
    assert_int_equal(calls_of_ours, 0);
    assert_in_range(objects, 3, 1000); /* the program, libc, the loader */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_of_libc_are_found),
        cmocka_unit_test(the_programs_dl_iterate_phdr_is_not_called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
