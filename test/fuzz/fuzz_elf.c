/* SPDX-License-Identifier: MIT
 *
 * fuzz_elf.c: any bytes as an ELF image: everything that the reader and the name search can be
 * asked. What is found in an image is found in a file with the same bytes.
 *
 * Sources: src/elf/build_id.c src/sys/own_files.c src/elf/elf.c src/symbol/names.c
 * Sources: src/base/arena.c src/sys/file_calls.c src/sys/file_status_glibc.c
 * Sources: src/base/memory.c src/base/sort.c src/base/text.c src/symbol/extents.c
 * Sources: src/symbol/ifuncs.c
 * Sources: src/symbol/places.c src/elf/relocations.c src/symbol/stubs.c src/sys/safe_read.c
 * Sources: src/sys/program.c
 * Sources: src/sys/apart.c src/sys/own_threads.c src/arch/x86_64_apart.S
 * Seeds: images of every kind that test/unit/elf_image.h makes, with two bytes for the addresses.
 */
#include "elf/build_id.h"
#include "elf/elf.h"
#include "symbol/names.h"
#include "symbol/places.h"

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

/* Where the debug file of this id is looked for; makes or removes the folders on the way. */
static void name_debug_file(char *name, size_t size, const char *root, const uint8_t *id,
                            uint8_t id_size, const char *target)
{
    int folder = snprintf(name, size, "%s/.build-id/%02x", root, id[0]);
    if (target != NULL)
        mkdir(name, 0700);
    int length = folder;
    length += snprintf(name + length, size - (size_t)length, "/");
    for (unsigned i = 1; i < id_size; i++)
        length += snprintf(name + length, size - (size_t)length, "%02x", id[i]);
    snprintf(name + length, size - (size_t)length, ".debug");
    if (target != NULL) {
        if (symlink(target, name) != 0)
            abort();
        return;
    }
    unlink(name);
    name[folder] = '\0';
    rmdir(name);
}

/* ROOT/.build-id/xx/yy.debug is the file if the id in it is the one that it was looked for by. */
static void ask_for_debug_file(const char *path, const answers *a)
{
    char root[] = "/tmp/fuzz_elf.XXXXXX";
    char name[sizeof root + 32 + 2 * PP_BUILD_ID_MAX];
    uint8_t other[PP_BUILD_ID_MAX];
    pp_elf elf;
    if (mkdtemp(root) == NULL)
        abort();
    memcpy(other, a->id, sizeof other);
    other[0] ^= 1;
    snprintf(name, sizeof name, "%s/.build-id", root);
    mkdir(name, 0700);
    name_debug_file(name, sizeof name, root, a->id, a->id_size, path);
    name_debug_file(name, sizeof name, root, other, a->id_size, path);
    bool opened = pp_elf_open_debug(&elf, NULL, root, a->id, a->id_size) == 0;
    if (opened != (a->id_size >= 2))
        abort();
    if (opened)
        pp_elf_close(&elf);
    if (pp_elf_open_debug(&elf, NULL, root, other, a->id_size) == 0)
        abort();
    name_debug_file(name, sizeof name, root, a->id, a->id_size, NULL);
    name_debug_file(name, sizeof name, root, other, a->id_size, NULL);
    snprintf(name, sizeof name, "%s/.build-id", root);
    rmdir(name);
    rmdir(root);
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
    if (size == 0 || data[size / 2] % 8 != 0)
        return; /* system calls are slow: one input in eight */
    const char *path = file_of(data, size);
    file.opened = pp_elf_open(&elf, NULL, path);
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

/* What has no symbol may have a place. The slots are those of the image itself. */
static void ask_places(const pp_mapping *mapping, const uintptr_t *addresses, pp_symbol *symbols,
                       pp_arena *arena)
{
    size_t places = 0, nameless = 0;
    for (size_t i = 0; i < ADDRESSES; i++)
        nameless += symbols[i].name == NULL;
    size_t named = pp_places_name(mapping, 1, 0, addresses, ADDRESSES, symbols, arena);
    for (size_t i = 0; i < ADDRESSES; i++) {
        places += symbols[i].is_place;
        nameless -= symbols[i].name == NULL;
        if (symbols[i].is_place && strncmp(symbols[i].name, "[vdso]+0x", 9) != 0)
            abort();
    }
    if (named + places != nameless)
        abort();
}

/* The image as if the loader had mapped it, and its file had gone: whatever lies at the addresses
 * that it names is read. */
static void ask_mapped(const uint8_t *data, size_t size, const uintptr_t *addresses)
{
    uintptr_t begin = (uintptr_t)data;
    pp_mapping mapping = {.start = begin, .limit = begin + size, .bias = begin, .path = "/none"};
    pp_elf elf;
    if (pp_elf_open_loaded(&elf, NULL, begin, begin) != 0)
        return;
    pp_elf_file_build_id(&elf, mapping.build_id, &mapping.build_id_size);
    pp_elf_close(&elf);
    pp_symbol symbols[ADDRESSES];
    pp_arena arena = {NULL, false};
    pp_symbols_resolve(&mapping, addresses, ADDRESSES, symbols, &arena);
    pp_places_name(&mapping, 1, 0, addresses, ADDRESSES, symbols, &arena);
    pp_arena_release(&arena);
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
    ask_places(&mapping, addresses, symbols, &arena);
    ask_mapped(data, size, addresses);
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
