/* SPDX-License-Identifier: MIT
 *
 * test_elf.c: the reader on good files, and on every truncation and single-byte corruption of one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "elf/elf.h"
#include "elf_image.h"
#include "symbol/names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static elf_image image;

static void make_victim(uint32_t table_type, bool no_sections, bool gnu_hash)
{
    const image_symbol symbols[] = {
        {"victim", TEXT_START, 0x10, STB_GLOBAL, STT_FUNC, TEXT},
        {"alias", TEXT_START, 0x10, STB_GLOBAL, STT_FUNC, TEXT},
        {"label", TEXT_START + 0x20, 0, STB_GLOBAL, STT_NOTYPE, TEXT},
    };
    elf_image_make(&image,
                   &(image_options){.table_type = table_type,
                                    .no_sections = no_sections,
                                    .gnu_hash = gnu_hash,
                                    .build_id_size = 20,
                                    .build_id_first = 0xab},
                   symbols, 3);
}

static void reads_a_good_image(void **state)
{
    (void)state;
    make_victim(SHT_SYMTAB, false, false);
    pp_elf elf;
    assert_int_equal(pp_elf_open_image(&elf, image.bytes, image.size), 0);

    uint8_t id[PP_BUILD_ID_MAX], id_size = 0;
    assert_true(pp_elf_file_build_id(&elf, id, &id_size));
    assert_int_equal(id_size, 20);
    assert_int_equal(id[0], 0xab);

    pp_elf_symbols table;
    assert_true(pp_elf_symbols_by_section(&elf, SHT_SYMTAB, &table));
    assert_int_equal(table.offset, IMAGE_SYMBOLS);
    assert_int_equal(table.count, 4);
    assert_false(pp_elf_symbols_by_section(&elf, SHT_DYNSYM, &table));
    assert_true(pp_elf_symbols_by_dynamic(&elf, &table));
    assert_int_equal(table.count, 4);

    uint64_t start, limit;
    assert_true(pp_elf_section_range(&elf, TEXT, &start, &limit));
    assert_int_equal(start, TEXT_START);
    assert_int_equal(limit, TEXT_LIMIT);
    assert_false(pp_elf_section_range(&elf, 4, &start, &limit)); /* not allocated */
    assert_false(pp_elf_section_range(&elf, 0, &start, &limit));
    assert_false(pp_elf_section_range(&elf, 100, &start, &limit));
    assert_false(pp_elf_section_range(&elf, SHN_ABS, &start, &limit));

    uint8_t bytes[16];
    assert_true(pp_elf_read(&elf, image.size - 16, bytes, 16));
    assert_false(pp_elf_read(&elf, image.size - 15, bytes, 16));
    assert_false(pp_elf_read(&elf, UINT64_MAX - 8, bytes, 16));
    assert_int_equal(pp_elf_read_some(&elf, image.size - 3, bytes, 16), 3);
    pp_elf_close(&elf);
}

static void counts_symbols_by_either_hash_table(void **state)
{
    (void)state;
    for (int gnu_hash = 0; gnu_hash < 2; gnu_hash++) {
        make_victim(SHT_DYNSYM, true, gnu_hash != 0);
        pp_elf elf;
        pp_elf_symbols table;
        assert_int_equal(pp_elf_open_image(&elf, image.bytes, image.size), 0);
        assert_int_equal(elf.section_count, 0);
        assert_true(pp_elf_symbols_by_dynamic(&elf, &table));
        assert_int_equal(table.count, 4);
        pp_elf_close(&elf);
    }
}

static void refuses_what_is_not_elf64(void **state)
{
    (void)state;
    pp_elf elf;
    make_victim(SHT_SYMTAB, false, false);
    assert_int_equal(pp_elf_open_image(&elf, image.bytes, sizeof(Elf64_Ehdr) - 1), -ENOEXEC);
    image.bytes[EI_CLASS] = ELFCLASS32;
    assert_int_equal(pp_elf_open_image(&elf, image.bytes, image.size), -ENOEXEC);
    image.bytes[EI_CLASS] = ELFCLASS64;
    image.bytes[EI_DATA] ^= 3;
    assert_int_equal(pp_elf_open_image(&elf, image.bytes, image.size), -ENOEXEC);
    image.bytes[EI_DATA] ^= 3;
    image.bytes[0] = 'E';
    assert_int_equal(pp_elf_open_image(&elf, image.bytes, image.size), -ENOEXEC);

    assert_int_equal(pp_elf_open(&elf, NULL, "/nonexistent/file"), -ENOENT);
    assert_int_equal(pp_elf_open(&elf, NULL, "/tmp"), -ENOEXEC);
    assert_int_equal(pp_elf_open(&elf, NULL, "/dev/zero"), -ENOEXEC);
    char fifo[] = "/tmp/test_elf.XXXXXX";
    close(mkstemp(fifo));
    assert_int_equal(pp_elf_open(&elf, NULL, fifo), -ENOEXEC); /* empty */
    unlink(fifo);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(pp_elf_open(&elf, NULL, fifo), -ENOEXEC); /* and does not wait for a writer */
    unlink(fifo);
}

static void debug_files_are_found_by_build_id(void **state)
{
    (void)state;
    char root[] = "/tmp/test_elf.XXXXXX";
    assert_non_null(mkdtemp(root));
    char path[256];
    snprintf(path, sizeof(path), "%s/.build-id", root);
    mkdir(path, 0700);
    snprintf(path, sizeof(path), "%s/.build-id/ab", root);
    mkdir(path, 0700);
    snprintf(path, sizeof(path), "%s/.build-id/ab/%s.debug", root,
             "acadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbe");
    make_victim(SHT_SYMTAB, false, false);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(image.bytes, 1, image.size, file);
    fclose(file);

    uint8_t id[PP_BUILD_ID_MAX];
    for (unsigned i = 0; i < sizeof(id); i++)
        id[i] = (uint8_t)(0xab + i);
    pp_elf elf;
    assert_int_equal(pp_elf_open_debug(&elf, NULL, root, id, 20), 0);
    pp_elf_close(&elf);
    assert_int_equal(pp_elf_open_debug(&elf, NULL, root, id, 19), -ENOENT);
    assert_int_equal(pp_elf_open_debug(&elf, NULL, root, id, 1), -ENOENT);
    assert_int_equal(pp_elf_open_debug(&elf, NULL, root, id, 0), -ENOENT);
    assert_int_equal(pp_elf_open_debug(&elf, NULL, root, id, PP_BUILD_ID_MAX), -ENOENT);
    static char deep[300];
    memset(deep, '/', sizeof(deep) - 1);
    assert_int_equal(pp_elf_open_debug(&elf, NULL, deep, id, 20), -ENAMETOOLONG);

    image.bytes[IMAGE_NOTE + 16 + 19] ^= 1; /* the right name with the wrong content */
    file = fopen(path, "wb");
    fwrite(image.bytes, 1, image.size, file);
    fclose(file);
    assert_int_equal(pp_elf_open_debug(&elf, NULL, root, id, 20), -ENOENT);

    unlink(path);
    snprintf(path, sizeof(path), "%s/.build-id/ab", root);
    rmdir(path);
    snprintf(path, sizeof(path), "%s/.build-id", root);
    rmdir(path);
    rmdir(root);
}

/* ---- Corruption ---------------------------------------------------------------------------- */

/* Everything that the reader can be asked, on memory of exactly `size` bytes. */
static void survive(const uint8_t *bytes, size_t size)
{
    uint8_t *exact = malloc(size == 0 ? 1 : size);
    memcpy(exact, bytes, size);
    pp_elf elf;
    if (pp_elf_open_image(&elf, exact, size) == 0) {
        uint8_t id[PP_BUILD_ID_MAX], id_size;
        pp_elf_symbols table;
        pp_elf_file_build_id(&elf, id, &id_size);
        pp_elf_symbols_by_section(&elf, SHT_SYMTAB, &table);
        pp_elf_symbols_by_section(&elf, SHT_DYNSYM, &table);
        pp_elf_symbols_by_dynamic(&elf, &table);
        pp_elf_close(&elf);
    }
    uintptr_t begin = (uintptr_t)exact;
    pp_mapping mapping = {
        .start = begin, .limit = begin + size, .bias = begin, .path = "[x]", .in_memory = true};
    uintptr_t addresses[] = {begin + TEXT_START, begin + TEXT_START + 0x18,
                             begin + TEXT_START + 0x28, begin + TEXT2_LIMIT};
    pp_symbol symbols[4];
    pp_arena arena = PP_ARENA_INIT;
    size_t resolved = pp_symbols_resolve(&mapping, addresses, 4, symbols, &arena);
    size_t named = 0;
    for (int i = 0; i < 4; i++)
        named += symbols[i].name != NULL;
    assert_int_equal(named, resolved);
    pp_arena_release(&arena);
    free(exact);
}

static void survives_every_truncation(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        make_victim(SHT_SYMTAB, kind > 0, kind > 1);
        for (size_t size = 0; size <= image.size; size++)
            survive(image.bytes, size);
    }
}

static void survives_every_corrupt_byte(void **state)
{
    (void)state;
    const uint8_t values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    for (int kind = 0; kind < 3; kind++) {
        make_victim(SHT_SYMTAB, kind > 0, kind > 1);
        for (size_t at = 0; at < image.size; at++) {
            uint8_t good = image.bytes[at];
            for (size_t v = 0; v < sizeof(values); v++) {
                image.bytes[at] = values[v];
                survive(image.bytes, image.size);
            }
            image.bytes[at] = good;
        }
    }
}

static void a_file_that_shrinks_is_only_short(void **state)
{
    (void)state;
    char path[] = "/tmp/test_elf.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    make_victim(SHT_SYMTAB, false, false);
    assert_int_equal(write(fd, image.bytes, image.size), image.size);
    pp_elf elf;
    assert_int_equal(pp_elf_open(&elf, NULL, path), 0);
    assert_int_equal(ftruncate(fd, 100), 0); /* a mapping would raise SIGBUS from here on */
    uint8_t id[PP_BUILD_ID_MAX], id_size;
    pp_elf_symbols table;
    assert_false(pp_elf_file_build_id(&elf, id, &id_size));
    assert_false(pp_elf_symbols_by_section(&elf, SHT_SYMTAB, &table));
    uint8_t bytes[64];
    assert_int_equal(pp_elf_read_some(&elf, 90, bytes, sizeof(bytes)), 10);
    pp_elf_close(&elf);
    close(fd);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_good_image),
        cmocka_unit_test(counts_symbols_by_either_hash_table),
        cmocka_unit_test(refuses_what_is_not_elf64),
        cmocka_unit_test(debug_files_are_found_by_build_id),
        cmocka_unit_test(survives_every_truncation),
        cmocka_unit_test(survives_every_corrupt_byte),
        cmocka_unit_test(a_file_that_shrinks_is_only_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
