/* SPDX-License-Identifier: MIT
 *
 * fuzz_elf.c: any bytes as an ELF image: everything that the reader and the name search can be
 * asked. What is found in an image is found in a file with the same bytes.
 *
 * Sources: src/sys/build_id.c src/symbol/elf.c src/symbol/names.c src/base/arena.c
 * Seeds: images of every kind that test/unit/elf_image.h makes, with two bytes for the addresses.
 */
#include "symbol/elf.h"
#include "symbol/names.h"
#include "sys/build_id.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ADDRESSES = 64, HEADERS = 16 };

/* All that the reader says of an image. */
typedef struct answers {
    int opened;
    bool has_id, has_table, has_symbols, has_dynamic;
    uint8_t id[PP_BUILD_ID_MAX];
    uint8_t id_size;
    pp_elf_symbols table, symbols, dynamic;
    uint64_t ranges;
} answers;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask_reader(pp_elf *elf, answers *a)
{
    uint64_t start, limit;
    a->has_id = pp_elf_file_build_id(elf, a->id, &a->id_size);
    if (a->has_id && (a->id_size == 0 || a->id_size > PP_BUILD_ID_MAX))
        abort();
    a->has_table = pp_elf_symbols_by_section(elf, SHT_SYMTAB, &a->table);
    if (a->has_table && a->table.count < 2)
        abort();
    a->has_symbols = pp_elf_symbols_by_section(elf, SHT_DYNSYM, &a->symbols);
    a->has_dynamic = pp_elf_symbols_by_dynamic(elf, &a->dynamic);
    for (uint16_t i = 0; i < 100; i++) {
        if (!pp_elf_section_range(elf, i, &start, &limit))
            continue;
        if (limit < start)
            abort();
        a->ranges = a->ranges * 31 + start + 7 * limit;
    }
    pp_elf_close(elf);
}

/* An anonymous file, and the path that it has while it is open. */
static const char *file_of(const uint8_t *data, size_t size)
{
    static int fd = -1;
    static char path[64];
    if (fd < 0) {
        fd = memfd_create("elf", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
        abort();
    return path;
}

/* ROOT/.build-id/xx/yy.debug, found by its id as long as the id in it is the same. */
static void ask_for_debug_file(const char *path, const answers *a)
{
    static char root[] = "/tmp/fuzz_elf.XXXXXX";
    static bool made;
    char name[sizeof root + 32 + 2 * PP_BUILD_ID_MAX];
    pp_elf elf;
    if (!made && mkdtemp(root) == NULL)
        abort();
    made = true;
    snprintf(name, sizeof name, "%s/.build-id", root);
    mkdir(name, 0700);
    int length = snprintf(name, sizeof name, "%s/.build-id/%02x", root, a->id[0]);
    mkdir(name, 0700);
    length += snprintf(name + length, sizeof name - (size_t)length, "/");
    for (unsigned i = 1; i < a->id_size; i++)
        length += snprintf(name + length, sizeof name - (size_t)length, "%02x", a->id[i]);
    snprintf(name + length, sizeof name - (size_t)length, ".debug");
    if (symlink(path, name) != 0)
        abort();
    if ((pp_elf_open_debug(&elf, root, a->id, a->id_size) == 0) != (a->id_size >= 2))
        abort();
    pp_elf_close(&elf);
    uint8_t other[PP_BUILD_ID_MAX];
    memcpy(other, a->id, sizeof other);
    other[0] ^= 1;
    if (pp_elf_open_debug(&elf, root, other, a->id_size) == 0)
        abort(); /* there is no file of that name */
    unlink(name);
    name[strlen(root) + strlen("/.build-id/xx")] = '\0';
    rmdir(name);
    name[strlen(root) + strlen("/.build-id")] = '\0';
    rmdir(name);
    rmdir(root);
    made = false;
    memcpy(root + sizeof root - sizeof "XXXXXX", "XXXXXX", 6);
}

static void ask_both_ways(const uint8_t *data, size_t size)
{
    static answers image, file;
    pp_elf elf;
    memset(&image, 0, sizeof image);
    memset(&file, 0, sizeof file);
    image.opened = pp_elf_open_image(&elf, data, size);
    if (image.opened == 0)
        ask_reader(&elf, &image);
    const char *path = file_of(data, size);
    file.opened = pp_elf_open(&elf, path);
    if (file.opened == 0)
        ask_reader(&elf, &file);
    if (memcmp(&image, &file, sizeof image) != 0)
        abort();
    if (image.has_id)
        ask_for_debug_file(path, &image);
}

/* Program headers as those of a loaded object, whose segments lie where they say. */
static void ask_loaded(const uint8_t *data, size_t size)
{
    ElfW(Phdr) headers[HEADERS];
    uint8_t id[PP_BUILD_ID_MAX], id_size;
    size_t count = size / sizeof *headers < HEADERS ? size / sizeof *headers : HEADERS;
    memcpy(headers, data, count * sizeof *headers);
    for (size_t i = 0; i < count; i++) {
        if (headers[i].p_type == PT_LOAD) {
            headers[i].p_vaddr %= size;
            headers[i].p_filesz %= size - headers[i].p_vaddr + 1;
        }
    }
    if (pp_elf_build_id(headers, count, (uintptr_t)data, id, &id_size) == 0 &&
        (id_size == 0 || id_size > PP_BUILD_ID_MAX))
        abort();
}

/* The addresses start where the input says and are a page apart at most, as code is. */
static void ask_names(const uint8_t *data, size_t size)
{
    uintptr_t begin = (uintptr_t)data;
    pp_mapping mapping = {
        .start = begin, .limit = begin + size, .bias = begin, .path = "[vdso]", .in_memory = true};
    uint16_t first;
    memcpy(&first, data + size - sizeof(first), sizeof(first));
    uintptr_t addresses[ADDRESSES];
    for (uintptr_t i = 0; i < ADDRESSES; i++)
        addresses[i] = begin + (uintptr_t)first * 16 + i * (data[size - 1] + 1u);
    pp_symbol symbols[ADDRESSES];
    pp_arena arena = {NULL, false};
    size_t resolved = pp_symbols_resolve(&mapping, addresses, ADDRESSES, symbols, &arena);
    for (size_t i = 0; i < ADDRESSES; i++)
        resolved -= symbols[i].name != NULL && symbols[i].name[0] != '\0';
    if (resolved != 0)
        abort();
    pp_arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t id[PP_BUILD_ID_MAX], id_size;
    pp_note_build_id(data, size, size & 8, id, &id_size);
    ask_both_ways(data, size);
    if (size > sizeof(Elf64_Ehdr))
        ask_loaded(data + sizeof(Elf64_Ehdr), size - sizeof(Elf64_Ehdr));
    if (size >= 2)
        ask_names(data, size);
    return 0;
}
