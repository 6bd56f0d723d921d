/* SPDX-License-Identifier: MIT
 *
 * test_unseen_object.c: the objects of this very process, read as if nobody had seen them, and what
 * is none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "elf/build_id.h"
#include "modules/unseen_object.h"

#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

static uintptr_t page_of(uintptr_t address)
{
    return address & ~(uintptr_t)(PAGE - 1);
}

static unsigned objects;

static void read_one(const struct dl_phdr_info *info, const ElfW(Phdr) * first,
                     const ElfW(Phdr) * code)
{
    pp_mapping expected = {.bias = info->dlpi_addr};
    pp_mapping found = {.start = page_of(info->dlpi_addr + code->p_vaddr),
                        .offset = page_of(code->p_offset),
                        .bias = 1};
    pp_elf_build_id(info->dlpi_phdr, info->dlpi_phnum, info->dlpi_addr, expected.build_id,
                    &expected.build_id_size);
    assert_true(pp_unseen_object_read(page_of(info->dlpi_addr + first->p_vaddr), &found));
    assert_int_equal(found.bias, expected.bias);
    assert_int_equal(found.build_id_size, expected.build_id_size);
    assert_memory_equal(found.build_id, expected.build_id, expected.build_id_size);
    objects++;
}

static int read_object(struct dl_phdr_info *info, size_t size, void *context)
{
    const ElfW(Phdr) *first = NULL;
    (void)size;
    (void)context;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *load = &info->dlpi_phdr[i];
        if (load->p_type != PT_LOAD) {
            continue;
        }
        first = first != NULL ? first : load;
        if ((load->p_flags & PF_X) != 0) {
            read_one(info, first, load);
        }
    }
    return 0;
}

static void objects_of_this_process(void **unused)
{
    (void)unused;
    dl_iterate_phdr(read_object, NULL);
    assert_true(objects >= 3); /* this program, libc, ld.so */
}

static void what_is_no_object(void **unused)
{
    (void)unused;
    pp_mapping mapping = {.start = PAGE, .bias = 42};
    char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_false(pp_unseen_object_read(0, &mapping));
    assert_false(pp_unseen_object_read((uintptr_t)page, &mapping));
    memcpy(page, ELFMAG, SELFMAG + 1); /* no program headers */
    assert_false(pp_unseen_object_read((uintptr_t)page, &mapping));
    memset(page + SELFMAG, 0xff, PAGE - SELFMAG);
    assert_false(pp_unseen_object_read((uintptr_t)page, &mapping));
    assert_int_equal(mapping.bias, 42);
    assert_int_equal(mapping.build_id_size, 0);
    munmap(page, PAGE);
    assert_false(pp_unseen_object_read((uintptr_t)page, &mapping));
}

static int other_code(struct dl_phdr_info *info, size_t size, void *context)
{
    pp_mapping *mapping = context;
    (void)size;
    mapping->start = 0x1000;
    assert_false(pp_unseen_object_read(page_of(info->dlpi_addr), mapping));
    return 1;
}

static void code_of_another_file(void **unused)
{
    (void)unused;
    pp_mapping mapping = {.offset = 0};
    dl_iterate_phdr(other_code, &mapping);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_of_this_process),
        cmocka_unit_test(what_is_no_object),
        cmocka_unit_test(code_of_another_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
