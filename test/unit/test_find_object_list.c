/* SPDX-License-Identifier: MIT
 *
 * test_find_object_list.c: the loader's list leads to the object of an address, with its bounds and tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "spare_library.h"
#include "modules/find_object.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

typedef struct bounds {
    uintptr_t start, end, eh_frame;
} bounds;

static bounds bounds_of(const struct dl_phdr_info *info)
{
    bounds b = {.start = UINTPTR_MAX};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        uintptr_t end = start + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME) {
            b.eh_frame = start;
        } else if (info->dlpi_phdr[i].p_type == PT_LOAD) {
            b.start = start < b.start ? start : b.start;
            b.end = end > b.end ? end : b.end;
        }
    }
    return b;
}

static int compare_object(struct dl_phdr_info *info, size_t size, void *context)
{
    bounds b = bounds_of(info);
    pp_found_object found = {0};
    (void)size;
    assert_true(pp_object_find_listed(b.start, &found));
    assert_true(pp_object_find_listed(b.end - 1, &found));
    assert_int_equal(found.start, b.start);
    assert_int_equal(found.end, b.end);
    assert_int_equal(found.eh_frame, b.eh_frame);
    assert_int_equal(found.map->l_addr, info->dlpi_addr);
    assert_false(pp_object_find_listed(b.end, &found) && found.start == b.start);
    ++*(unsigned *)context;
    return 0;
}

static void each_object_is_found_with_its_bounds(void **state)
{
    unsigned count = 0;
    (void)state;
    dl_iterate_phdr(compare_object, &count);
    assert_true(count >= 3); /* the program, libc, the loader or the vDSO */
}

static void what_lies_in_no_object_is_not_found(void **state)
{
    pp_found_object found;
    (void)state;
    void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_false(pp_object_find_listed((uintptr_t)page, &found));
    assert_false(pp_object_find_listed((uintptr_t)&found, &found));
    assert_false(pp_object_find_listed(0, &found));
    munmap(page, PAGE);
}

static void a_library_is_found_while_it_is_loaded(void **state)
{
    pp_found_object found = {0};
    (void)state;
    void *library = dlopen(spare_library(), RTLD_NOW); /* musl, which unloads nothing, has none */
    uintptr_t code = spare_code_of(library).lo;
    assert_true(pp_object_find_listed(code, &found));
    assert_true(found.start <= code && code < found.end);
    dlclose(library);
    assert_false(pp_object_find_listed(code, &found));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_object_is_found_with_its_bounds),
        cmocka_unit_test(what_lies_in_no_object_is_not_found),
        cmocka_unit_test(a_library_is_found_while_it_is_loaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
