/* SPDX-License-Identifier: MIT
 *
 * split_unit.c: finds the file with the unit, takes its parts, and puts the ELF file together.
 *
 * Owns: nothing.
 */
#include "dwarf/split_unit.h"

#include "dwarf/bytes_reader.h"

#include <dwarf.h>
#include <errno.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The program's part for a unit without a stated size is at most this large: 2^20 addresses. */
enum { PART_MAX = 8 << 20 };

/* What the skeleton says. */
typedef struct skeleton {
    Dwarf_Half version;
    uint64_t id;
    Dwarf_Addr low;
    pp_bytes addresses, ranges; /* of the program's sections, from the unit's base on */
    const char *name, *folder;  /* of the .dwo file; or NULL */
} skeleton;

/* ---- the skeleton ---- */

/* The contents of a section of the program's debug information. */
static pp_bytes section_of(Elf *elf, const char *wanted)
{
    size_t names = 0;
    if (elf_getshdrstrndx(elf, &names) != 0) {
        return (pp_bytes){NULL, 0};
    }
    for (Elf_Scn *at = NULL; (at = elf_nextscn(elf, at)) != NULL;) {
        GElf_Shdr header;
        const char *name =
            gelf_getshdr(at, &header) != NULL ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name == NULL || strcmp(name, wanted) != 0 || header.sh_type == SHT_NOBITS) {
            continue;
        }
        Elf_Data *data = elf_rawdata(at, NULL);
        return data != NULL && data->d_buf != NULL ? (pp_bytes){data->d_buf, data->d_size}
                                                   : (pp_bytes){NULL, 0};
    }
    return (pp_bytes){NULL, 0};
}

static const char *text_of(Dwarf_Die *die, unsigned first, unsigned second)
{
    Dwarf_Attribute attribute;
    const char *text = dwarf_formstring(dwarf_attr(die, first, &attribute));
    return text != NULL ? text : dwarf_formstring(dwarf_attr(die, second, &attribute));
}

static Dwarf_Word offset_of(Dwarf_Die *die, unsigned first, unsigned second)
{
    Dwarf_Attribute attribute;
    Dwarf_Word offset = 0;
    if (dwarf_formudata(dwarf_attr(die, first, &attribute), &offset) != 0 &&
        dwarf_formudata(dwarf_attr(die, second, &attribute), &offset) != 0) {
        return 0;
    }
    return offset;
}

/* The size of the unit's addresses. In DWARF 5 the 8 bytes before them have it. */
static uint64_t size_of_addresses(pp_bytes section, uint64_t base, Dwarf_Half version)
{
    enum { LENGTH = 8, AFTER_LENGTH = 4 };
    if (version < 5 || base < LENGTH) {
        return PART_MAX;
    }
    pp_bytes_reader in = {pp_bytes_part(section, base - LENGTH, 4), 0, false};
    uint64_t length = pp_bytes_number(&in, 4);
    return length > AFTER_LENGTH && length - AFTER_LENGTH < PART_MAX ? length - AFTER_LENGTH
                                                                     : PART_MAX;
}

static bool read_skeleton(const pp_debug_file *file, Dwarf_Die *die, skeleton *s)
{
    uint8_t address_size = 0;
    uint8_t offset_size = 0;
    *s = (skeleton){0};
    if (dwarf_cu_info(die->cu, &s->version, NULL, NULL, NULL, &s->id, &address_size,
                      &offset_size) != 0 ||
        address_size != 8 || offset_size != 4) {
        return false;
    }
    dwarf_lowpc(die, &s->low);
    Dwarf_Word base = offset_of(die, DW_AT_addr_base, DW_AT_GNU_addr_base);
    pp_bytes addresses = section_of(file->copy.elf, ".debug_addr");
    s->addresses = pp_bytes_part(addresses, base, size_of_addresses(addresses, base, s->version));
    s->ranges =
        pp_bytes_part(section_of(file->copy.elf, ".debug_ranges"),
                      offset_of(die, DW_AT_GNU_ranges_base, DW_AT_GNU_ranges_base), PART_MAX);
    s->name = text_of(die, DW_AT_dwo_name, DW_AT_GNU_dwo_name);
    s->folder = text_of(die, DW_AT_comp_dir, DW_AT_comp_dir);
    return s->name != NULL;
}

/* ---- the unit and its abbreviations ---- */

/* The unit in a .debug_info.dwo. */
typedef struct split {
    pp_bytes parts[PP_SPLIT_SECTIONS];
    pp_bytes unit; /* with its header */
    uint64_t version;
    uint64_t abbrev;                        /* offset in the part */
    size_t die;                             /* offset of the first entry */
    uint64_t code;                          /* of its abbreviation */
    size_t after_code;                      /* offset */
    pp_bytes before, specifications, after; /* the abbreviation's pairs, with the two zeros at the
                                               end; and the table before and after it */
    uint64_t tag, has_children;
} split;

/* Skips an attribute's value. False if the form cannot occur in a unit of a split file. */
static bool skip_form(pp_bytes_reader *in, uint64_t form)
{
    switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:
        return true;
    case DW_FORM_data1:
    case DW_FORM_flag:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
        pp_bytes_skip(in, 1);
        return true;
    case DW_FORM_data2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
        pp_bytes_skip(in, 2);
        return true;
    case DW_FORM_data4:
    case DW_FORM_sec_offset:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
    case DW_FORM_strp:
    case DW_FORM_line_strp:
        pp_bytes_skip(in, 4);
        return true;
    case DW_FORM_data8:
    case DW_FORM_addr:
        pp_bytes_skip(in, 8);
        return true;
    case DW_FORM_udata:
    case DW_FORM_sdata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_GNU_str_index:
    case DW_FORM_GNU_addr_index:
        pp_bytes_leb(in);
        return true;
    default:
        return false;
    }
}

/* Reads a pair of an abbreviation. False at the two zeros, and at the end. */
static bool next_pair(pp_bytes_reader *in, uint64_t *name, uint64_t *form)
{
    *name = pp_bytes_leb(in);
    *form = pp_bytes_leb(in);
    if (*form == DW_FORM_implicit_const) {
        pp_bytes_leb(in);
    }
    return !in->failed && (*name != 0 || *form != 0);
}

static bool find_abbreviation(split *s)
{
    pp_bytes_reader in = {pp_bytes_part(s->parts[PP_SPLIT_ABBREV], s->abbrev, SIZE_MAX), 0, false};
    for (size_t first = 0;; first = in.at) {
        uint64_t code = pp_bytes_leb(&in);
        if (code == 0 || in.failed) {
            return false;
        }
        s->tag = pp_bytes_leb(&in);
        s->has_children = pp_bytes_number(&in, 1);
        size_t begin = in.at;
        uint64_t name = 0;
        uint64_t form = 0;
        while (next_pair(&in, &name, &form)) {
        }
        if (code == s->code) {
            s->before = pp_bytes_part(in.bytes, 0, first);
            s->specifications = pp_bytes_part(in.bytes, begin, in.at - begin);
            s->after = pp_bytes_part(in.bytes, in.at, SIZE_MAX);
            return !in.failed;
        }
    }
}

/* Where the attribute with the id is, among the unit's own; 0: nowhere. */
static size_t place_of_id(const split *s)
{
    pp_bytes_reader pairs = {s->specifications, 0, false};
    pp_bytes_reader in = {s->unit, s->after_code, false};
    uint64_t name = 0;
    uint64_t form = 0;
    while (next_pair(&pairs, &name, &form)) {
        if (name == DW_AT_GNU_dwo_id && form == DW_FORM_data8) {
            return in.at;
        }
        if (!skip_form(&in, form) || in.failed) {
            return 0;
        }
    }
    return 0;
}

static uint64_t id_of(const split *s)
{
    enum { ID_IN_HEADER = 12 };
    pp_bytes_reader in = {s->unit, s->version >= 5 ? ID_IN_HEADER : place_of_id(s), false};
    return in.at != 0 ? pp_bytes_number(&in, 8) : 0;
}

/* Reads the header at `at`, and what of the first entry is needed. */
static bool read_unit(split *s, size_t at)
{
    pp_bytes_reader in = {pp_bytes_part(s->parts[PP_SPLIT_INFO], at, SIZE_MAX), 0, false};
    uint64_t length = pp_bytes_number(&in, 4);
    s->unit = pp_bytes_part(in.bytes, 0, length + 4);
    s->version = pp_bytes_number(&in, 2);
    uint64_t type = DW_UT_split_compile;
    if (s->version >= 5) {
        type = pp_bytes_number(&in, 1);
        pp_bytes_skip(&in, 1); /* the size of an address */
        s->abbrev = pp_bytes_number(&in, 4);
        pp_bytes_skip(&in, 8); /* the id */
    } else {
        s->abbrev = pp_bytes_number(&in, 4);
        pp_bytes_skip(&in, 1);
    }
    s->die = in.at;
    s->code = pp_bytes_leb(&in);
    s->after_code = in.at;
    return !in.failed && in.at < s->unit.size && s->code != 0 && type == DW_UT_split_compile &&
           find_abbreviation(s) && s->tag == DW_TAG_compile_unit;
}

static bool find_unit(const pp_split_file *file, const skeleton *wanted, split *s)
{
    *s = (split){0};
    if (!pp_split_file_find(file, wanted->id, s->parts)) {
        return false;
    }
    for (size_t at = 0; at < s->parts[PP_SPLIT_INFO].size;) {
        s->unit.size = 0;
        if (read_unit(s, at) && s->version == wanted->version && id_of(s) == wanted->id) {
            return true;
        }
        if (s->unit.size <= 4) {
            return false;
        }
        at += s->unit.size;
    }
    return false;
}

/* ---- putting together ---- */

typedef enum part {
    NOTHING,
    INFO,
    ABBREV,
    STR,
    STR_OFFSETS,
    ADDR,
    RANGES,
    RNGLISTS,
    NAMES,
    PARTS
} part;

typedef struct builder {
    uint8_t *data[PARTS];
    size_t size[PARTS];
    bool no_memory;
} builder;

static const char *name_of(part which)
{
    static const char *const names[PARTS] = {
        [NOTHING] = "",
        [INFO] = ".debug_info",
        [ABBREV] = ".debug_abbrev",
        [STR] = ".debug_str",
        [STR_OFFSETS] = ".debug_str_offsets",
        [ADDR] = ".debug_addr",
        [RANGES] = ".debug_ranges",
        [RNGLISTS] = ".debug_rnglists",
        [NAMES] = ".shstrtab",
    };
    return names[which];
}

static uint8_t *make_part(builder *b, part which, size_t size)
{
    b->data[which] = calloc(1, size + 1);
    b->size[which] = b->data[which] != NULL ? size : 0;
    b->no_memory |= b->data[which] == NULL;
    return b->data[which];
}

static void copy_part(builder *b, part which, pp_bytes bytes)
{
    uint8_t *to = bytes.size > 0 ? make_part(b, which, bytes.size) : NULL;
    if (to != NULL) {
        memcpy(to, bytes.data, bytes.size);
    }
}

static uint8_t *append(uint8_t *to, const void *data, size_t size)
{
    if (size > 0) {
        memcpy(to, data, size);
    }
    return to + size;
}

/* Exchanges the abbreviation of the unit. libdw refuses a table with a number twice. */
static void make_abbreviations(builder *b, const split *s)
{
    enum { TAG_CHILDREN = 2 };
    static const uint8_t low_pc[] = {DW_AT_low_pc, DW_FORM_addr};
    /* DW_AT_GNU_dwo_id and DW_FORM_data8, and the same size of DW_AT_low_pc and DW_FORM_addr */
    static const uint8_t old[] = {0xb1, 0x42, DW_FORM_data8};
    static const uint8_t new[] = {0x80 | DW_AT_low_pc, 0, DW_FORM_addr};
    const uint8_t head[TAG_CHILDREN] = {DW_TAG_compile_unit, s->has_children != 0};
    size_t code = s->after_code - s->die;
    uint8_t *to = make_part(b, ABBREV,
                            s->before.size + code + sizeof head + sizeof low_pc +
                                s->specifications.size + s->after.size);
    if (to == NULL) {
        return;
    }
    to = append(to, s->before.data, s->before.size);
    to = append(to, s->unit.data + s->die, code);
    to = append(to, head, sizeof head);
    to = append(to, low_pc, s->version >= 5 ? sizeof low_pc : 0);
    uint8_t *id =
        memmem(append(to, s->specifications.data, s->specifications.size) - s->specifications.size,
               s->specifications.size, old, sizeof old);
    if (s->version < 5 && id != NULL) {
        memcpy(id, new, sizeof new);
    }
    append(to + s->specifications.size, s->after.data, s->after.size);
}

static void make_info(builder *b, const split *s, Dwarf_Addr low)
{
    enum { TYPE = 6, V5_ABBREV = 8, V4_ABBREV = 6, V5_DIE = 12 };
    uint8_t *to = make_part(b, INFO, s->unit.size);
    if (to == NULL) {
        return;
    }
    memcpy(to, s->unit.data, s->unit.size);
    if (s->version >= 5) {
        size_t code = s->after_code - s->die;
        to[TYPE] = DW_UT_compile;
        memset(to + V5_ABBREV, 0, 4);
        memcpy(to + V5_DIE, s->unit.data + s->die, code);
        memcpy(to + V5_DIE + code, &low, sizeof low);
    } else {
        memset(to + V4_ABBREV, 0, 4);
        memcpy(to + place_of_id(s), &low, sizeof low);
    }
}

/* A .dwp file has one table for the strings of all units. Copies those of this unit. */
static void make_strings(builder *b, const split *s)
{
    enum { HEADER = 8 };
    pp_bytes all = s->parts[PP_SPLIT_STR];
    size_t header = s->version >= 5 ? HEADER : 0;
    copy_part(b, STR_OFFSETS, s->parts[PP_SPLIT_STR_OFFSETS]);
    pp_bytes offsets = {b->data[STR_OFFSETS], b->size[STR_OFFSETS]};
    const size_t most =
        2 * all.size + 1; /* more is a damaged file, whose strings lie in one another */
    size_t size = 1;
    for (size_t at = header; at + 4 <= offsets.size && size <= most; at += 4) {
        uint32_t offset = 0;
        memcpy(&offset, offsets.data + at, 4);
        size += pp_bytes_part(all, offset, SIZE_MAX).size > 0
                    ? strnlen((const char *)all.data + offset, all.size - offset) + 1
                    : 0;
    }
    uint8_t *to = size <= most && size < UINT32_MAX ? make_part(b, STR, size) : NULL;
    uint32_t end = 1;
    for (size_t at = header; to != NULL && at + 4 <= offsets.size; at += 4) {
        uint32_t offset = 0;
        memcpy(&offset, offsets.data + at, 4);
        memset(b->data[STR_OFFSETS] + at, 0, 4);
        if (offset < all.size) {
            size_t length = strnlen((const char *)all.data + offset, all.size - offset);
            memcpy(to + end, all.data + offset, length);
            memcpy(b->data[STR_OFFSETS] + at, &end, 4);
            end += (uint32_t)length + 1;
        }
    }
}

static void make_names(builder *b, uint32_t at[PARTS])
{
    size_t size = 0;
    for (part i = NOTHING; i < PARTS; i++) {
        at[i] = (uint32_t)size;
        size += strlen(name_of(i)) + 1;
    }
    uint8_t *to = make_part(b, NAMES, size);
    for (part i = NOTHING; to != NULL && i < PARTS; i++) {
        memcpy(to + at[i], name_of(i), strlen(name_of(i)));
    }
}

static size_t aligned(size_t size)
{
    return (size + 15) & ~(size_t)15;
}

/* Puts the parts into one piece of memory. Returns it and its size; NULL without memory. */
static uint8_t *join(builder *b, Elf *like, const uint32_t names[PARTS], size_t *size)
{
    const Elf64_Ehdr *program = elf64_getehdr(like);
    size_t headers = aligned(sizeof(Elf64_Ehdr));
    size_t at = headers + PARTS * sizeof(Elf64_Shdr);
    *size = at;
    for (part i = INFO; i < PARTS; i++) {
        *size += aligned(b->size[i]);
    }
    uint8_t *memory = program != NULL && !b->no_memory ? calloc(1, *size) : NULL;
    if (memory == NULL) {
        return NULL;
    }
    Elf64_Ehdr header = *program;
    header.e_phoff = header.e_phnum = 0;
    header.e_shoff = headers;
    header.e_shnum = PARTS;
    header.e_shstrndx = NAMES;
    memcpy(memory, &header, sizeof header);
    for (part i = INFO; i < PARTS; i++) {
        Elf64_Shdr section = {.sh_name = names[i],
                              .sh_type = i == NAMES ? SHT_STRTAB : SHT_PROGBITS,
                              .sh_offset = at,
                              .sh_size = b->size[i],
                              .sh_addralign = 1};
        memcpy(memory + headers + i * sizeof section, &section, sizeof section);
        if (b->size[i] > 0) {
            memcpy(memory + at, b->data[i], b->size[i]);
        }
        at += aligned(b->size[i]);
    }
    return memory;
}

static uint8_t *build(const skeleton *k, const split *s, Elf *like, size_t *size)
{
    builder b = {0};
    uint32_t names[PARTS];
    make_info(&b, s, k->low);
    make_abbreviations(&b, s);
    make_strings(&b, s);
    copy_part(&b, ADDR, k->addresses);
    copy_part(&b, RANGES, k->ranges);
    copy_part(&b, RNGLISTS, s->parts[PP_SPLIT_RNGLISTS]);
    make_names(&b, names);
    uint8_t *memory = join(&b, like, names, size);
    for (part i = NOTHING; i < PARTS; i++) {
        free(b.data[i]);
    }
    return memory;
}

static int open_unit(pp_split_search *search, const skeleton *k, const split *s,
                     pp_split_unit *unit)
{
    size_t size = 0;
    Dwarf_CU *first = NULL;
    unit->memory = build(k, s, search->file->copy.elf, &size);
    if (unit->memory == NULL) {
        return -ENOMEM;
    }
    unit->elf = elf_memory((char *)unit->memory, size);
    unit->dwarf = unit->elf != NULL ? dwarf_begin_elf(unit->elf, DWARF_C_READ, NULL) : NULL;
    if (unit->dwarf == NULL) {
        pp_split_unit_close(unit);
        return 0;
    }
    dwarf_new_oom_handler(unit->dwarf, (Dwarf_OOM)search->no_memory);
    if (dwarf_get_units(unit->dwarf, NULL, &first, NULL, NULL, &unit->die, NULL) != 0) {
        pp_split_unit_close(unit);
    }
    return 0;
}

/* ---- the file ---- */

static uint64_t most_bytes(const pp_split_search *search)
{
    return search->host->most_bytes != 0 ? search->host->most_bytes : PP_DEBUG_COPY_MAX;
}

/* PROGRAM.dwp is beside the program. */
static void try_package(pp_split_search *search)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s.dwp", search->module->path);
    if (search->package_tried || length < 0 || length >= PATH_MAX) {
        return;
    }
    search->package_tried = true;
    pp_split_file_open(search->host, path, most_bytes(search), &search->package);
}

/* The folder of the module's file, with the slash. */
static int folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (int)(slash - path) + 1 : 0;
}

/* Opens the .dwo file where the compiler has put it, else beside the program. */
static int open_dwo(const pp_split_search *search, const skeleton *k, pp_split_file *file)
{
    const char *program = search->module->path;
    const char *base = strrchr(k->name, '/');
    char path[PATH_MAX];
    int error = -ENOENT;
    for (int i = 0; error == -ENOENT && i < 3; i++) {
        const char *name = i == 2 && base != NULL ? base + 1 : k->name;
        const char *slash = "/";
        const char *folder = k->folder != NULL ? k->folder : "";
        int length = (int)strnlen(folder, PATH_MAX);
        if (i > 0 || *name == '/') {
            folder = *name == '/' ? "" : program;
            length = *name == '/' ? 0 : folder_length(program);
            slash = "";
        }
        int total = snprintf(path, sizeof path, "%.*s%s%s", length, folder, slash, name);
        if (total > 0 && total < PATH_MAX) {
            error = pp_split_file_open(search->host, path, most_bytes(search), file);
        }
    }
    return error;
}

int pp_split_unit_open(pp_split_search *search, Dwarf_Die *die, pp_split_unit *unit)
{
    skeleton k;
    split s;
    pp_split_file dwo;
    *unit = (pp_split_unit){0};
    if (!read_skeleton(search->file, die, &k)) {
        return 0;
    }
    try_package(search);
    if (search->package.section[PP_SPLIT_INFO].size > 0 && find_unit(&search->package, &k, &s)) {
        return open_unit(search, &k, &s, unit);
    }
    int error = open_dwo(search, &k, &dwo);
    if (error != 0) {
        return error == -ENOMEM || error == -EFBIG ? error : 0;
    }
    error = find_unit(&dwo, &k, &s) ? open_unit(search, &k, &s, unit) : 0;
    pp_split_file_release(&dwo);
    return error;
}

void pp_split_unit_close(pp_split_unit *unit)
{
    dwarf_end(unit->dwarf);
    elf_end(unit->elf);
    free(unit->memory);
    *unit = (pp_split_unit){0};
}

void pp_split_search_end(pp_split_search *search)
{
    pp_split_file_release(&search->package);
}
