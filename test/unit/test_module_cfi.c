/* SPDX-License-Identifier: MIT
 *
 * test_module_cfi.c: objects whose call-frame information is where it should be, elsewhere, or to
 * be found through the file alone; and files that are not what they seem.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "modules/module_cfi.h"

#include <elf.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    SEGMENT = 0x1000,
    DATA = 0x4000, /* the second segment, behind a hole */
    HEADER = 0x800 /* .eh_frame_hdr, in the first */
};

static uint8_t memory[DATA + SEGMENT];

static const ElfW(Phdr) usual_headers[] = {
    {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = SEGMENT, .p_memsz = SEGMENT},
    {.p_type = PT_LOAD,
     .p_flags = PF_R | PF_W,
     .p_vaddr = DATA,
     .p_filesz = SEGMENT / 2,
     .p_memsz = SEGMENT},
    {.p_type = PT_GNU_EH_FRAME, .p_vaddr = HEADER, .p_filesz = 64, .p_memsz = 64},
};

static ElfW(Phdr) headers[3];

static pp_module describe(size_t count, const char *path)
{
    struct dl_phdr_info info = {
        .dlpi_addr = (uintptr_t)memory, .dlpi_phdr = headers, .dlpi_phnum = (ElfW(Half))count};
    pp_module module = {.permanent = true};
    pp_module_cfi_describe(&info, NULL, path, &module);
    return module;
}

static void assert_range(const pp_module *module, uintptr_t lo, uintptr_t hi)
{
    assert_int_equal(module->cfi_lo, (uintptr_t)memory + lo);
    assert_int_equal(module->cfi_hi, (uintptr_t)memory + hi);
}

static void assert_nothing(const pp_module *module)
{
    assert_int_equal(module->eh_frame_hdr, 0);
    assert_int_equal(module->cfi_lo, 0);
    assert_int_equal(module->cfi_hi, 0);
}

static void the_segment_of_the_header_is_the_range_and_all_segments_the_wider_one(void **state)
{
    (void)state;
    memcpy(headers, usual_headers, sizeof headers);
    pp_module module = describe(3, "/none");
    assert_int_equal(module.eh_frame_hdr, (uintptr_t)memory + HEADER);
    assert_range(&module, 0, SEGMENT);
    assert_int_equal(module.all_lo, (uintptr_t)memory);
    assert_int_equal(module.all_hi, (uintptr_t)memory + DATA + SEGMENT);
    assert_true(module.permanent);
}

static void header_that_is_not_loaded_is_none(void **state)
{
    (void)state;
    static const uintptr_t places[] = {SEGMENT, SEGMENT - 7, DATA + SEGMENT / 2, DATA + SEGMENT};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        memcpy(headers, usual_headers, sizeof headers);
        headers[2].p_vaddr = places[i];
        pp_module module = describe(3, "/none");
        assert_nothing(&module);
    }
}

/* ---- no header: a file with sections ---- */

typedef struct file {
    ElfW(Ehdr) elf;
    ElfW(Phdr) headers[2];
    ElfW(Shdr) sections[4];
    char names[32];
} file;

/* The object as the linker leaves it: sections .text, .eh_frame, .shstrtab. */
static file make_file(void)
{
    file f = {
        .elf = {.e_phoff = offsetof(file, headers),
                .e_phentsize = sizeof(ElfW(Phdr)),
                .e_phnum = 2,
                .e_shoff = offsetof(file, sections),
                .e_shentsize = sizeof(ElfW(Shdr)),
                .e_shnum = 4,
                .e_shstrndx = 3},
        .sections =
            {[1] = {.sh_name = 1, .sh_flags = SHF_ALLOC},
             [2] = {.sh_name = 7, .sh_flags = SHF_ALLOC, .sh_addr = 0x900, .sh_size = 0x100},
             [3] = {.sh_name = 17, .sh_offset = offsetof(file, names), .sh_size = sizeof f.names}},
        .names = "\0.text\0.eh_frame\0.shstrtab"};
    memcpy(f.elf.e_ident, ELFMAG, SELFMAG);
    f.elf.e_ident[EI_CLASS] = ELFCLASS64;
    f.elf.e_ident[EI_DATA] = ELFDATA2LSB;
    memcpy(f.headers, usual_headers, sizeof f.headers);
    memcpy(headers, usual_headers, sizeof headers);
    return f;
}

static pp_module describe_file(const file *f, size_t size)
{
    char path[64];
    int fd = memfd_create("object", 0);
    assert_int_equal(write(fd, f, size), (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    pp_module module = describe(2, path);
    close(fd);
    return module;
}

static void frames_are_found_through_the_file(void **state)
{
    (void)state;
    file f = make_file();
    pp_module module = describe_file(&f, sizeof f);
    assert_int_equal(module.eh_frame_hdr, (uintptr_t)memory + 0x900);
    assert_range(&module, 0x900, 0xa00);
    assert_true(module.permanent);
    f.sections[2].sh_addr = DATA + 8; /* in the data: one piece all the same */
    module = describe_file(&f, sizeof f);
    assert_range(&module, DATA + 8, DATA + 0x108);
    assert_true(module.permanent);
}

static void another_file_is_not_believed(void **state)
{
    (void)state;
    file f = make_file();
    headers[1].p_memsz++;
    pp_module module = describe_file(&f, sizeof f);
    assert_nothing(&module);
    f = make_file();
    module = describe(1, "/proc/self/exe");
    assert_nothing(&module);
    module = describe(2, "/none");
    assert_nothing(&module);
    module = describe(2, "");
    assert_nothing(&module);
    module = describe(2, "/");
    assert_nothing(&module);
}

static void files_cut_off_anywhere_are_survived(void **state)
{
    (void)state;
    file f = make_file();
    size_t needed = offsetof(file, names) + 17; /* the name's end */
    for (size_t size = 0; size <= sizeof f; size++) {
        pp_module module = describe_file(&f, size);
        assert_int_equal(module.eh_frame_hdr != 0, size >= needed);
    }
}

static void sections_that_are_not_loaded_are_none(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint64_t value;
    } changes[] = {
        {offsetof(file, sections[2].sh_addr), SEGMENT - 0xff},
        {offsetof(file, sections[2].sh_addr), UINT64_MAX - 0x80},
        {offsetof(file, sections[2].sh_addr), DATA + SEGMENT / 2 - 0xff},
        {offsetof(file, sections[2].sh_size), UINT64_MAX},
        {offsetof(file, sections[2].sh_size), SEGMENT},
        {offsetof(file, sections[2].sh_size), 4}, /* an end mark */
        {offsetof(file, sections[2].sh_flags), 0},
        {offsetof(file, sections[3].sh_offset), UINT64_MAX - 3},
        {offsetof(file, sections[3].sh_size), 5},
        {offsetof(file, elf.e_shoff), UINT64_MAX - 63},
        {offsetof(file, elf.e_phoff), UINT64_MAX - 7},
        {offsetof(file, names[7]), 0},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        file f = make_file();
        memcpy((uint8_t *)&f + changes[i].at, &changes[i].value, sizeof changes[i].value);
        pp_module module = describe_file(&f, sizeof f);
        assert_nothing(&module);
    }
    file f = make_file();
    f.elf.e_shnum = UINT16_MAX;
    pp_module module = describe_file(&f, sizeof f);
    assert_nothing(&module);
    f = make_file();
    f.elf.e_shstrndx = UINT16_MAX;
    module = describe_file(&f, sizeof f);
    assert_nothing(&module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_segment_of_the_header_is_the_range_and_all_segments_the_wider_one),
        cmocka_unit_test(header_that_is_not_loaded_is_none),
        cmocka_unit_test(frames_are_found_through_the_file),
        cmocka_unit_test(another_file_is_not_believed),
        cmocka_unit_test(files_cut_off_anywhere_are_survived),
        cmocka_unit_test(sections_that_are_not_loaded_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
