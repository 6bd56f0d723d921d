/* SPDX-License-Identifier: MIT
 *
 * test_build_id.c: notes of every shape, and the notes of what is loaded into this very process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "elf/build_id.h"
#include "elf_image.h"

#include <errno.h>
#include <link.h>
#include <stdlib.h>

typedef struct notes {
    _Alignas(8) uint8_t bytes[256];
    size_t size;
} notes;

static void add_note(notes *n, uint32_t type, const char *name, uint32_t name_size,
                     const void *desc, uint32_t desc_size, size_t alignment)
{
    Elf64_Nhdr header = {name_size, desc_size, type};
    memcpy(n->bytes + n->size, &header, sizeof(header));
    memcpy(n->bytes + n->size + sizeof(header), name, name_size);
    n->size = (n->size + sizeof(header) + name_size + alignment - 1) & ~(alignment - 1);
    memcpy(n->bytes + n->size, desc, desc_size);
    n->size = (n->size + desc_size + alignment - 1) & ~(alignment - 1);
}

/* In memory of exactly that size, so that a sanitizer sees any read beyond it. */
static int find(const notes *n, size_t size, size_t alignment, uint8_t *id, uint8_t *id_size)
{
    uint8_t *exact = calloc(1, size == 0 ? 1 : size);
    memcpy(exact, n->bytes, size);
    int error = pp_note_build_id(exact, size, alignment, id, id_size);
    free(exact);
    return error;
}

static void found_behind_other_notes(void **state)
{
    (void)state;
    const size_t alignments[] = {4, 8, 0, 1};
    for (size_t i = 0; i < 4; i++) {
        size_t padding = alignments[i] == 8 ? 8 : 4;
        notes n = {.size = 0};
        add_note(&n, NT_GNU_ABI_TAG, "GNU", 4, "0123456789abcdef", 16, padding);
        add_note(&n, NT_GNU_BUILD_ID, "Xen", 4, "wrong", 5, padding);
        add_note(&n, NT_GNU_BUILD_ID, "Go", 3, "wrong too", 9, padding);
        add_note(&n, NT_GNU_BUILD_ID, "GNU", 4, "abcdefghij0123456789", 20, padding);
        uint8_t id[PP_BUILD_ID_MAX], id_size = 0;
        assert_int_equal(find(&n, n.size, alignments[i], id, &id_size), 0);
        assert_int_equal(id_size, 20);
        assert_memory_equal(id, "abcdefghij0123456789", 20);
        size_t end = n.size - (padding == 8 ? 4 : 0); /* the last padding may be missing */
        for (size_t size = 0; size < n.size; size++) {
            uint8_t part_size = 77;
            assert_int_equal(find(&n, size, alignments[i], id, &part_size),
                             size >= end ? 0 : -ENOENT);
            assert_int_equal(part_size, size >= end ? 20 : 77);
        }
    }
}

static void absent_empty_and_huge(void **state)
{
    (void)state;
    uint8_t id[PP_BUILD_ID_MAX], id_size = 99;
    notes n = {.size = 0};
    assert_int_equal(find(&n, 0, 4, id, &id_size), -ENOENT);
    add_note(&n, NT_GNU_BUILD_ID, "GNU", 4, "", 0, 4);
    assert_int_equal(find(&n, n.size, 4, id, &id_size), -ENOENT);
    assert_int_equal(id_size, 99);

    uint8_t large[64];
    for (size_t i = 0; i < sizeof(large); i++)
        large[i] = (uint8_t)i;
    n.size = 0;
    add_note(&n, NT_GNU_BUILD_ID, "GNU", 4, large, sizeof(large), 4);
    assert_int_equal(find(&n, n.size, 4, id, &id_size), 0);
    assert_int_equal(id_size, PP_BUILD_ID_MAX);
    assert_memory_equal(id, large, PP_BUILD_ID_MAX);

    const uint32_t sizes[] = {UINT32_MAX, UINT32_MAX - 3, 0x80000000, 1000};
    for (size_t i = 0; i < 4; i++) {
        Elf64_Nhdr header = {sizes[i], 4, NT_GNU_BUILD_ID};
        memcpy(n.bytes, &header, sizeof(header));
        assert_int_equal(find(&n, 64, 4, id, &id_size), -ENOENT);
        header = (Elf64_Nhdr){4, sizes[i], NT_GNU_BUILD_ID};
        memcpy(n.bytes, &header, sizeof(header));
        memcpy(n.bytes + sizeof(header), "GNU", 4);
        assert_int_equal(find(&n, 64, 8, id, &id_size), -ENOENT);
    }
}

static void only_loaded_notes_are_read(void **state)
{
    (void)state;
    static elf_image image;
    elf_image_make(&image, &(image_options){.build_id_size = 20, .build_id_first = 5}, NULL, 0);
    Elf64_Phdr headers[3];
    memcpy(headers, image.bytes + 64, sizeof(headers));
    uint8_t id[PP_BUILD_ID_MAX], id_size = 0;
    uintptr_t bias = (uintptr_t)image.bytes;
    assert_int_equal(pp_elf_build_id(headers, 3, bias, id, &id_size), 0);
    assert_int_equal(id_size, 20);
    assert_int_equal(id[0], 5);
    assert_int_equal(id[19], 24);

    headers[0].p_flags = PF_X; /* not readable */
    assert_int_equal(pp_elf_build_id(headers, 3, bias, id, &id_size), -ENOENT);
    headers[0].p_flags = PF_R;
    headers[0].p_filesz = IMAGE_NOTE + 10; /* only half of it is loaded */
    assert_int_equal(pp_elf_build_id(headers, 3, bias, id, &id_size), -ENOENT);
    headers[0].p_filesz = image.size;
    headers[1].p_memsz = UINT64_MAX;
    assert_int_equal(pp_elf_build_id(headers, 3, bias, id, &id_size), -ENOENT);
    assert_int_equal(pp_elf_build_id(headers, 0, bias, id, &id_size), -ENOENT);
}

static int check_object(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    uint8_t id[PP_BUILD_ID_MAX], id_size = 0;
    int *found = context;
    *found +=
        pp_elf_build_id(info->dlpi_phdr, info->dlpi_phnum, info->dlpi_addr, id, &id_size) == 0 &&
        id_size > 0;
    return 0;
}

static void loaded_objects_have_ids(void **state)
{
    (void)state;
    int found = 0;
    dl_iterate_phdr(check_object, &found);
    assert_in_range(found, 1, 1000); /* the vDSO and the libc, at the least one of them */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found_behind_other_notes),
        cmocka_unit_test(absent_empty_and_huge),
        cmocka_unit_test(only_loaded_notes_are_read),
        cmocka_unit_test(loaded_objects_have_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
