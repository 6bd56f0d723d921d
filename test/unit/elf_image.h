/* SPDX-License-Identifier: MIT
 *
 * elf_image.h: makes small ELF64 images for tests: two code sections that hold nothing, one symbol
 * table, a build id, and the dynamic tables that a loader would use.
 *
 *   0 Ehdr | 64 Phdr: LOAD NOTE DYNAMIC | 512 note | 1024 symbols | names | dynamic | hash | Shdrs
 */
#ifndef PP_TEST_ELF_IMAGE_H
#define PP_TEST_ELF_IMAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    IMAGE_MAX = 16384,
    IMAGE_NOTE = 512,
    IMAGE_SYMBOLS = 1024,
    /* Link-time addresses of the code sections, and their section indices. */
    TEXT_START = 0x10000,
    TEXT_LIMIT = 0x11000,
    TEXT2_LIMIT = 0x12000,
    TEXT = 1,
    TEXT2 = 2
};

typedef struct image_symbol {
    const char *name;
    uint64_t value;
    uint64_t size;
    unsigned char binding; /* STB_* */
    unsigned char type;    /* STT_* */
    uint16_t section;
} image_symbol;

typedef struct image_options {
    uint32_t table_type; /* SHT_SYMTAB or SHT_DYNSYM */
    bool no_sections;
    bool gnu_hash; /* rather than DT_HASH */
    uint8_t build_id_size;
    uint8_t build_id_first; /* the bytes are this, this + 1, ... */
} image_options;

typedef struct elf_image {
    _Alignas(16) uint8_t bytes[IMAGE_MAX];
    size_t size;
} elf_image;

static inline size_t image_put(elf_image *image, const void *data, size_t size)
{
    size_t at = (image->size + 7) & ~(size_t)7;
    if (at + size <= IMAGE_MAX) {
        memcpy(image->bytes + at, data, size);
        image->size = at + size;
    }
    return at;
}

static inline void image_put_note(elf_image *image, const image_options *options)
{
    struct {
        Elf64_Nhdr header;
        char name[4];
        uint8_t id[64];
    } note = {{4, options->build_id_size, NT_GNU_BUILD_ID}, "GNU", {0}};
    for (unsigned i = 0; i < options->build_id_size && i < sizeof(note.id); i++)
        note.id[i] = (uint8_t)(options->build_id_first + i);
    memcpy(image->bytes + IMAGE_NOTE, &note, 16 + (size_t)options->build_id_size);
}

static inline void elf_image_make(elf_image *image, const image_options *options,
                                  const image_symbol *symbols, size_t count)
{
    memset(image, 0, sizeof(*image));
    if (options->build_id_size > 0)
        image_put_note(image, options);

    char names[4096] = "";
    size_t names_size = 1;
    Elf64_Sym null_symbol = {0};
    image->size = IMAGE_SYMBOLS;
    image_put(image, &null_symbol, sizeof(null_symbol));
    for (size_t i = 0; i < count; i++) {
        Elf64_Sym symbol = {
            .st_name = (Elf64_Word)names_size,
            .st_info = (unsigned char)ELF64_ST_INFO(symbols[i].binding, symbols[i].type),
            .st_shndx = symbols[i].section,
            .st_value = symbols[i].value,
            .st_size = symbols[i].size,
        };
        image_put(image, &symbol, sizeof(symbol));
        size_t length = strlen(symbols[i].name) + 1;
        memcpy(names + names_size, symbols[i].name, length);
        names_size += length;
    }
    size_t symbols_size = (count + 1) * sizeof(Elf64_Sym);
    size_t names_at = image_put(image, names, names_size);

    /* One bucket whose chain holds all symbols: [buckets, first, bloom words, shift] bloom bucket
     * chain; and the older table with nothing but its two counts. */
    uint32_t old_hash[2] = {1, (uint32_t)count + 1};
    uint32_t new_hash[7 + 256] = {1, 1, 1, 0, 0, 0, 1};
    if (count > 0 && count <= 256)
        new_hash[7 + count - 1] = 1;
    size_t hash_at = options->gnu_hash ? image_put(image, new_hash, (7 + count) * 4)
                                       : image_put(image, old_hash, sizeof(old_hash));
    Elf64_Dyn dynamic[] = {
        {DT_SYMTAB, {IMAGE_SYMBOLS}},
        {DT_STRTAB, {names_at}},
        {DT_STRSZ, {names_size}},
        {options->gnu_hash ? DT_GNU_HASH : DT_HASH, {hash_at}},
        {DT_NULL, {0}},
    };
    size_t dynamic_at = image_put(image, dynamic, sizeof(dynamic));

    Elf64_Shdr sections[] = {
        {0},
        {.sh_type = SHT_NOBITS,
         .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
         .sh_addr = TEXT_START,
         .sh_size = TEXT_LIMIT - TEXT_START},
        {.sh_type = SHT_NOBITS,
         .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
         .sh_addr = TEXT_LIMIT,
         .sh_size = TEXT2_LIMIT - TEXT_LIMIT},
        {.sh_type = options->table_type,
         .sh_offset = IMAGE_SYMBOLS,
         .sh_size = symbols_size,
         .sh_entsize = sizeof(Elf64_Sym),
         .sh_link = 4},
        {.sh_type = SHT_STRTAB, .sh_offset = names_at, .sh_size = names_size},
        {.sh_type = SHT_NOTE,
         .sh_offset = IMAGE_NOTE,
         .sh_addralign = 4,
         .sh_size = options->build_id_size > 0 ? 16 + (Elf64_Xword)options->build_id_size : 0},
    };
    size_t section_count = sizeof(sections) / sizeof(sections[0]);
    size_t sections_at = options->no_sections ? 0 : image_put(image, sections, sizeof(sections));

    Elf64_Phdr segments[] = {
        {.p_type = PT_LOAD,
         .p_flags = PF_R | PF_X,
         .p_filesz = image->size,
         .p_memsz = image->size,
         .p_align = 4096},
        {.p_type = options->build_id_size > 0 ? PT_NOTE : PT_NULL,
         .p_flags = PF_R,
         .p_offset = IMAGE_NOTE,
         .p_vaddr = IMAGE_NOTE,
         .p_align = 4,
         .p_filesz = 16 + (Elf64_Xword)options->build_id_size,
         .p_memsz = 16 + (Elf64_Xword)options->build_id_size},
        {.p_type = PT_DYNAMIC,
         .p_flags = PF_R,
         .p_offset = dynamic_at,
         .p_vaddr = dynamic_at,
         .p_filesz = sizeof(dynamic),
         .p_memsz = sizeof(dynamic),
         .p_align = 8},
    };
    memcpy(image->bytes + 64, segments, sizeof(segments));

    Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
                    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB,
                    EV_CURRENT},
        .e_type = ET_DYN,
        .e_version = EV_CURRENT,
        .e_phoff = 64,
        .e_shoff = sections_at,
        .e_ehsize = sizeof(Elf64_Ehdr),
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = 3,
        .e_shentsize = options->no_sections ? 0 : sizeof(Elf64_Shdr),
        .e_shnum = options->no_sections ? 0 : (Elf64_Half)section_count,
    };
    memcpy(image->bytes, &header, sizeof(header));
}

#endif
