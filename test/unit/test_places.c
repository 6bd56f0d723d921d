/* SPDX-License-Identifier: MIT
 *
 * test_places.c: names of code that no symbol names: from unwind tables, stubs and slots of made-up
 * images, and from this program.
 *
 *   image of elf_image.h | unwind header | entries | stubs | relocations | slots | dynamic | ...
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "arch/linkage.h"
#include "elf_image.h"
#include "symbol/extents.h"
#include "symbol/places.h"

enum {
    FUNCTIONS_MAX = 8,
    RELOCATIONS_MAX = 8,
    STUBS = 0x3000, /* link-time and file address */
    SLOTS = 0x3400,
    RESOLVER = TEXT_LIMIT + 0x100,
    OTHER_RESOLVER = TEXT_LIMIT + 0x200
};

typedef struct range {
    uint32_t start, size;
} range;

/* What an image has beside its symbols. */
typedef struct parts {
    range function[FUNCTIONS_MAX];
    uint8_t stub[64];
    uint64_t stub_size; /* of each; 0 = there are none */
    Elf64_Rela relocation[RELOCATIONS_MAX];
    uint64_t relocation_count;
    uint64_t relative_count; /* put before them in DT_RELA rather than DT_JMPREL */
} parts;

/* The whole address space of the made-up module: the image, then code that is never read. */
typedef struct module {
    elf_image image;
    uint8_t code[TEXT2_LIMIT - IMAGE_MAX];
} module;

static module modules[2];

/* ---- Making modules ------------------------------------------------------------------------ */

static Elf64_Phdr *segments_of(elf_image *image)
{
    return (Elf64_Phdr *)(void *)(image->bytes + 64);
}

/* The table, one CIE, and an entry for each function; all pointers are relative to their places. */
static void put_frames(elf_image *image, const parts *p)
{
    static const uint8_t cie[] = {16,  0, 0, 0,    0,  0, 0,    0, 1, 'z',
                                  'R', 0, 1, 0x78, 16, 1, 0x1b, 0, 0, 0};
    uint32_t count = 0;
    while (count < FUNCTIONS_MAX && p->function[count].size != 0)
        count++;
    if (count == 0)
        return;
    size_t head_size = 12 + 8 * (size_t)count;
    uint8_t head[12 + 8 * FUNCTIONS_MAX] = {1, 0x1b, 3, 0x3b};
    size_t head_at = image_put(image, head, head_size);
    size_t cie_at = image_put(image, cie, sizeof(cie));
    memcpy(head + 8, &count, 4);
    for (uint32_t i = 0; i < count; i++) {
        size_t at = (image->size + 7) & ~(size_t)7;
        uint32_t entry[5] = {16, (uint32_t)(at + 4 - cie_at),
                             p->function[i].start - (uint32_t)at - 8, p->function[i].size, 0};
        image_put(image, entry, sizeof(entry));
        uint32_t pair[2] = {p->function[i].start - (uint32_t)head_at, (uint32_t)(at - head_at)};
        memcpy(head + 12 + 8 * i, pair, sizeof(pair));
    }
    memcpy(image->bytes + head_at, head, head_size);
    segments_of(image)[3] = (Elf64_Phdr){.p_type = PT_GNU_EH_FRAME,
                                         .p_offset = head_at,
                                         .p_vaddr = head_at,
                                         .p_filesz = head_size,
                                         .p_memsz = head_size};
}

static void put_relocations(elf_image *image, const parts *p)
{
    Elf64_Dyn dynamic[16];
    Elf64_Phdr *segment = &segments_of(image)[2];
    size_t old = segment->p_filesz / sizeof(*dynamic) - 1; /* without DT_NULL */
    uint64_t size = p->relocation_count * sizeof(Elf64_Rela);
    size_t at = image_put(image, p->relocation, size);
    memcpy(dynamic, image->bytes + segment->p_offset, old * sizeof(*dynamic));
    if (p->relative_count > 0) {
        dynamic[old++] = (Elf64_Dyn){DT_RELA, {at}};
        dynamic[old++] = (Elf64_Dyn){DT_RELASZ, {size}};
        dynamic[old++] = (Elf64_Dyn){DT_RELACOUNT, {p->relative_count}};
    } else {
        dynamic[old++] = (Elf64_Dyn){DT_JMPREL, {at}};
        dynamic[old++] = (Elf64_Dyn){DT_PLTRELSZ, {size}};
    }
    dynamic[old++] = (Elf64_Dyn){DT_NULL, {0}};
    segment->p_offset = segment->p_vaddr = image_put(image, dynamic, old * sizeof(*dynamic));
    segment->p_filesz = segment->p_memsz = old * sizeof(*dynamic);
}

/* New section headers: the old ones, the stubs, and the names of both. */
static void put_stubs(elf_image *image, const parts *p)
{
    static const char names[] = "\0.plt.sec\0.shstrtab";
    Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)image->bytes;
    Elf64_Shdr sections[16];
    memcpy(image->bytes + STUBS, p->stub, sizeof(p->stub));
    memcpy(sections, image->bytes + header->e_shoff, header->e_shnum * sizeof(*sections));
    sections[header->e_shnum++] = (Elf64_Shdr){.sh_name = 1,
                                               .sh_type = SHT_PROGBITS,
                                               .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                                               .sh_addr = STUBS,
                                               .sh_offset = STUBS,
                                               .sh_size = sizeof(p->stub),
                                               .sh_entsize = p->stub_size};
    sections[header->e_shnum] = (Elf64_Shdr){.sh_name = 10, .sh_type = SHT_STRTAB};
    sections[header->e_shnum].sh_offset = image_put(image, names, sizeof(names));
    sections[header->e_shnum].sh_size = sizeof(names);
    header->e_shstrndx = header->e_shnum++;
    header->e_shoff = image_put(image, sections, header->e_shnum * sizeof(*sections));
}

static void make_module(module *m, const image_symbol *symbols, size_t count, const parts *p)
{
    static const image_options options = {.table_type = SHT_DYNSYM};
    elf_image *image = &m->image;
    elf_image_make(image, &options, symbols, count);
    put_frames(image, p);
    if (p->relocation_count > 0)
        put_relocations(image, p);
    if (p->stub_size > 0)
        put_stubs(image, p);
    assert_in_range(image->size, 1, STUBS);
    image->size = IMAGE_MAX;
    ((Elf64_Ehdr *)(void *)image->bytes)->e_phnum = 4;
    segments_of(image)[0].p_filesz = segments_of(image)[0].p_memsz = IMAGE_MAX;
}

static pp_mapping mapping_of(module *m)
{
    uintptr_t begin = (uintptr_t)m;
    return (pp_mapping){.start = begin,
                        .limit = begin + sizeof(*m),
                        .bias = begin,
                        .path = m == &modules[0] ? "/usr/bin/first (deleted)" : "/lib/second.so",
                        .in_memory = true};
}

static void set_slot(module *m, unsigned number, const void *value)
{
    memcpy(m->image.bytes + SLOTS + 8 * number, &value, sizeof(value));
}

static const void *code_of(module *m, uint64_t own_address)
{
    return (const uint8_t *)m + own_address;
}

static Elf64_Rela relocation(unsigned slot, unsigned type, unsigned symbol, int64_t addend)
{
    return (Elf64_Rela){SLOTS + 8 * slot, ELF64_R_INFO((uint64_t)symbol, type), addend};
}

/* The name of an address of the first module, "?" without one; `*entry` relative to the module. */
static const char *name_at(uint64_t own_address, bool *is_place, uint64_t *entry)
{
    static pp_arena arena = PP_ARENA_INIT;
    pp_mapping mappings[] = {mapping_of(&modules[1]), mapping_of(&modules[0])};
    uintptr_t address = mappings[1].bias + own_address;
    pp_symbol symbol;
    pp_arena_release(&arena);
    size_t named = pp_places_resolve(mappings, 2, 1, &address, 1, &symbol, &arena);
    assert_int_equal(named, symbol.name != NULL && !symbol.is_place);
    if (is_place != NULL)
        *is_place = symbol.is_place;
    if (entry != NULL)
        *entry = symbol.name != NULL ? symbol.entry - mappings[1].bias : 0;
    return symbol.name != NULL ? symbol.name : "?";
}

static void expect_place(uint64_t own_address, const char *name, uint64_t expected_entry)
{
    bool is_place = false;
    uint64_t entry;
    assert_string_equal(name_at(own_address, &is_place, &entry), name);
    assert_true(is_place);
    assert_int_equal(entry, expected_entry);
}

static void expect_name(uint64_t own_address, const char *name)
{
    bool is_place = true;
    assert_string_equal(name_at(own_address, &is_place, NULL), name);
    assert_false(is_place);
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const image_symbol one[] = {{"known", TEXT_START, 0x10, STB_GLOBAL, STT_FUNC, TEXT}};

/* ---- Extents ------------------------------------------------------------------------------- */

static void functions_are_told_apart_by_their_starts(void **state)
{
    (void)state;
    const parts p = {
        .function = {{TEXT_START, 0x10}, {TEXT_START + 0x10, 0x30}, {TEXT_START + 0x80, 0x10}}};
    make_module(&modules[0], one, COUNT(one), &p);
    expect_name(TEXT_START + 0x0f, "known"); /* a symbol goes before a place */
    expect_place(TEXT_START + 0x10, "[first]+0x10010", TEXT_START + 0x10);
    expect_place(TEXT_START + 0x3f, "[first]+0x10010", TEXT_START + 0x10);
    assert_string_equal(name_at(TEXT_START + 0x40, NULL, NULL), "?"); /* between two entries */
    assert_string_equal(name_at(TEXT_START - 1, NULL, NULL), "?");
    expect_place(TEXT_START + 0x8f, "[first]+0x10080", TEXT_START + 0x80);
    assert_string_equal(name_at(TEXT_START + 0x90, NULL, NULL), "?");
}

static void many_addresses_at_once(void **state)
{
    (void)state;
    const parts p = {.function = {{TEXT_START + 0x10, 0x30}, {TEXT_START + 0x40, 0x20}}};
    make_module(&modules[0], one, COUNT(one), &p);
    pp_mapping mapping = mapping_of(&modules[0]);
    pp_arena arena = PP_ARENA_INIT;
    uintptr_t addresses[0x80];
    pp_symbol symbols[COUNT(addresses)];
    for (size_t i = 0; i < COUNT(addresses); i++)
        addresses[i] = mapping.bias + TEXT_START + i;
    assert_int_equal(
        pp_places_resolve(&mapping, 1, 0, addresses, COUNT(addresses), symbols, &arena), 0x10);
    for (size_t i = 0; i < COUNT(addresses); i++) {
        const char *name = i < 0x10   ? "known"
                           : i < 0x40 ? "[first]+0x10010"
                           : i < 0x60 ? "[first]+0x10040"
                                      : "?";
        assert_string_equal(symbols[i].name != NULL ? symbols[i].name : "?", name);
    }
    pp_arena_release(&arena);
}

static void damaged_tables_give_no_names(void **state)
{
    (void)state;
    const parts p = {.function = {{TEXT_START + 0x10, 0x30}}};
    make_module(&modules[0], one, COUNT(one), &p);
    uint8_t *bytes = modules[0].image.bytes;
    size_t head = segments_of(&modules[0].image)[3].p_offset;
    for (size_t i = head; i < head + 12 + 8; i++) { /* its encodings, its count, its one pair */
        uint8_t was = bytes[i];
        for (unsigned value = 0; value < 256; value += 5) {
            bytes[i] = (uint8_t)value;
            const char *name = name_at(TEXT_START + 0x10, NULL, NULL);
            assert_true(*name == '?' || strncmp(name, "[first]+0x", 10) == 0);
        }
        bytes[i] = was;
    }
    bytes[head] = 2; /* a version that nobody knows */
    assert_string_equal(name_at(TEXT_START + 0x10, NULL, NULL), "?");
}

/* ---- Stubs --------------------------------------------------------------------------------- */

/* What jumps to where a slot points; its first byte is at STUBS + at. */
static void put_jump(parts *p, size_t at, unsigned slot)
{
#ifdef __x86_64__ /* jmp *slot(%rip) */
    int32_t distance = SLOTS + 8 * (int32_t)slot - (STUBS + (int32_t)at + 6);
    p->stub[at] = 0xff;
    p->stub[at + 1] = 0x25;
    memcpy(p->stub + at + 2, &distance, sizeof(distance));
#else /* adrp x16, page; ldr x17, [x16, #offset]; add x16, x16, #offset; br x17 */
    uint32_t offset = (SLOTS + 8 * slot) % 0x1000;
    const uint32_t code[] = {0x90000010, 0xf9400211 | offset / 8 << 10, 0x91000210 | offset << 10,
                             0xd61f0220};
    assert_int_equal(STUBS / 0x1000, SLOTS / 0x1000);
    memcpy(p->stub + at, code, sizeof(code));
#endif
}

static const image_symbol imports[] = {
    {"strlen", 0, 0, STB_GLOBAL, STT_FUNC, SHN_UNDEF},
    {"strcmp", 0, 0, STB_GLOBAL, STT_FUNC, SHN_UNDEF},
};

static void add_imports(parts *p, unsigned type)
{
    for (unsigned i = 0; i < COUNT(imports); i++)
        p->relocation[p->relocation_count++] = relocation(i, type, i + 1, 0);
}

static void add_relative(parts *p, unsigned type)
{
    p->relocation[p->relocation_count++] = relocation(5, type, 0, 0);
    p->relative_count++;
}

#ifdef __x86_64__
static void stubs_have_the_names_of_their_slots(void **state)
{
    (void)state;
    parts p = {.function = {{STUBS, 64}}, .stub_size = 16};
    add_imports(&p, PP_RELOCATION_JUMP_SLOT);
    put_jump(&p, 16, 1);
    memcpy(p.stub + 32, "\xf3\x0f\x1e\xfa\xf2", 5); /* endbr64; bnd jmp */
    put_jump(&p, 32 + 5, 0);
    memcpy(p.stub + 48, "\xf3\x0f\x1e\xfa\x68\x01", 6); /* endbr64; push $1 */
    make_module(&modules[0], imports, COUNT(imports), &p);
    expect_place(STUBS + 15, "[first]+0x3000",
                 STUBS); /* not a stub: what all unbound ones jump to */
    expect_name(STUBS + 16, "strcmp@plt");
    expect_name(STUBS + 31, "strcmp@plt");
    expect_name(STUBS + 32, "strlen@plt");
    expect_name(STUBS + 47, "strlen@plt");
    expect_name(STUBS + 48, "strcmp@plt");
    uint64_t entry;
    name_at(STUBS + 47, NULL, &entry);
    assert_int_equal(entry, STUBS + 32);
}

static void stubs_of_eight_bytes(void **state)
{
    (void)state;
    parts p = {.stub_size = 8};
    add_relative(&p, R_X86_64_RELATIVE);
    add_imports(&p, PP_RELOCATION_GLOB_DAT);
    put_jump(&p, 0, 1);
    put_jump(&p, 8, 0);
    put_jump(&p, 16, 2); /* a slot without a relocation */
    make_module(&modules[0], imports, COUNT(imports), &p);
    expect_name(STUBS + 7, "strcmp@plt");
    expect_name(STUBS + 8, "strlen@plt");
    assert_string_equal(name_at(STUBS + 16, NULL, NULL), "?");
}
#else
static void stubs_have_the_names_of_their_slots(void **state)
{
    (void)state;
    parts p = {.function = {{STUBS, 64}}, .stub_size = 16};
    add_imports(&p, PP_RELOCATION_JUMP_SLOT);
    put_jump(&p, 16, 1);
    put_jump(&p, 32, 0);
    put_jump(&p, 48, 2); /* a slot without a relocation */
    make_module(&modules[0], imports, COUNT(imports), &p);
    expect_place(STUBS + 15, "[first]+0x3000", STUBS);
    expect_name(STUBS + 16, "strcmp@plt");
    expect_name(STUBS + 31, "strcmp@plt");
    expect_name(STUBS + 32, "strlen@plt");
    expect_name(STUBS + 47, "strlen@plt");
    uint64_t entry;
    name_at(STUBS + 47, NULL, &entry);
    assert_int_equal(entry, STUBS + 32);
}

/* With `bti c` in front. */
static void stubs_with_landings(void **state)
{
    static const uint8_t bti[] = {0x5f, 0x24, 0x03, 0xd5}, nop[] = {0x1f, 0x20, 0x03, 0xd5};
    (void)state;
    parts p = {.stub_size = 24}; /* linkers write no size for aarch64 */
    add_relative(&p, R_AARCH64_RELATIVE);
    add_imports(&p, PP_RELOCATION_GLOB_DAT);
    for (unsigned i = 0; i < 2; i++) {
        memcpy(p.stub + i * 24, bti, sizeof(bti));
        put_jump(&p, i * 24 + sizeof(bti), 1 - i);
        memcpy(p.stub + i * 24 + 20, nop, sizeof(nop));
    }
    make_module(&modules[0], imports, COUNT(imports), &p);
    for (unsigned i = 0; i < 24; i++) {
        uint64_t entry;
        expect_name(STUBS + i, "strcmp@plt");
        expect_name(STUBS + 24 + i, "strlen@plt");
        name_at(STUBS + 24 + i, NULL, &entry);
        assert_int_equal(entry, STUBS + 24);
    }
}
#endif

/* ---- What the loader has chosen ------------------------------------------------------------ */

static const image_symbol chosen[] = {
    {"bcmp", RESOLVER, 0x10, STB_WEAK, STT_GNU_IFUNC, TEXT2},
    {"memcmp", RESOLVER, 0x10, STB_GLOBAL, STT_GNU_IFUNC, TEXT2},
    {"memmove", OTHER_RESOLVER, 0x10, STB_GLOBAL, STT_GNU_IFUNC, TEXT2},
    {"plain", TEXT_START, 0x10, STB_GLOBAL, STT_FUNC, TEXT},
};
static const image_symbol importing[] = {
    {"bcmp", 0, 0, STB_GLOBAL, STT_FUNC, SHN_UNDEF},
    {"plain", 0, 0, STB_GLOBAL, STT_FUNC, SHN_UNDEF},
};

static void make_home(parts *p)
{
    p->function[0] = (range){TEXT_START + 0x10, 0x30};
    p->function[1] = (range){TEXT_START + 0x40, 0x30};
    make_module(&modules[0], chosen, COUNT(chosen), p);
}

static void variants_have_the_name_of_what_chose_them(void **state)
{
    (void)state;
    parts p = {.stub_size = 16};
    p.relocation[0] = relocation(0, PP_RELOCATION_IRELATIVE, 0, RESOLVER);
    p.relocation[1] =
        relocation(1, PP_RELOCATION_IRELATIVE, 0, TEXT_LIMIT + 0x900); /* has no symbol */
    p.relocation_count = 2;
    put_jump(&p, 0, 0);
    make_home(&p);
    set_slot(&modules[0], 0, code_of(&modules[0], TEXT_START + 0x10));
    set_slot(&modules[0], 1, code_of(&modules[0], TEXT_START + 0x40));
    expect_name(TEXT_START + 0x10, "memcmp");
    expect_name(TEXT_START + 0x3f, "memcmp");
    expect_place(TEXT_START + 0x40, "[first]+0x10040", TEXT_START + 0x40);
    expect_name(STUBS, "memcmp@plt");
    set_slot(&modules[0], 0, code_of(&modules[1], TEXT_START + 0x10)); /* chosen elsewhere: vDSO */
    expect_place(TEXT_START + 0x10, "[first]+0x10010", TEXT_START + 0x10);
}

static void slots_of_importers_tell_the_same(void **state)
{
    (void)state;
    parts home = {.stub_size = 0};
    parts p = {.relocation_count = 2};
    p.relocation[0] = relocation(0, PP_RELOCATION_JUMP_SLOT, 1, 0);
    p.relocation[1] = relocation(1, PP_RELOCATION_GLOB_DAT, 2, 0);
    make_home(&home);
    make_module(&modules[1], importing, COUNT(importing), &p);
    set_slot(&modules[1], 0, code_of(&modules[0], TEXT_START + 0x10));
    set_slot(&modules[1], 1, code_of(&modules[0], TEXT_START + 0x40));
    expect_name(TEXT_START + 0x10, "memcmp"); /* bcmp has the same resolver */
    /* An ordinary function has a symbol; a slot of that name that points elsewhere
     * proves nothing. */
    expect_place(TEXT_START + 0x40, "[first]+0x10040", TEXT_START + 0x40);
    set_slot(&modules[1], 0, code_of(&modules[1], TEXT_START + 0x10)); /* a hook */
    expect_place(TEXT_START + 0x10, "[first]+0x10010", TEXT_START + 0x10);
}

/* ---- This program -------------------------------------------------------------------------- */

static void extents_of_this_program_hold_its_functions(void **state)
{
    (void)state;
    pp_elf elf;
    assert_int_equal(pp_elf_open(&elf, NULL, "/proc/self/exe"), 0);
    uint64_t head, offset, size;
    assert_true(pp_elf_frame_header(&elf, &head, &offset, &size));
    uint64_t count = (size - 12) / 8;
    pp_arena arena = PP_ARENA_INIT;
    for (uint64_t i = 0; i < count; i++) { /* each start of the table is its own */
        int32_t start;
        assert_true(pp_elf_read(&elf, offset + 12 + 8 * i, &start, sizeof(start)));
        uint64_t address = head + (uint64_t)(int64_t)start;
        pp_extent extent;
        pp_extents_find(&elf, &address, 1, &extent, &arena);
        pp_arena_release(&arena);
        assert_int_equal(extent.start, address);
        assert_true(extent.limit > address);
    }
    assert_in_range(count, 20, 100000);
    pp_elf_close(&elf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_told_apart_by_their_starts),
        cmocka_unit_test(many_addresses_at_once),
        cmocka_unit_test(damaged_tables_give_no_names),
        cmocka_unit_test(stubs_have_the_names_of_their_slots),
#ifdef __x86_64__
        cmocka_unit_test(stubs_of_eight_bytes),
#else
        cmocka_unit_test(stubs_with_landings),
#endif
        cmocka_unit_test(variants_have_the_name_of_what_chose_them),
        cmocka_unit_test(slots_of_importers_tell_the_same),
        cmocka_unit_test(extents_of_this_program_hold_its_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
