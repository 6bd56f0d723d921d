/* SPDX-License-Identifier: MIT
 *
 * elf.c: reads ELF64 headers, sections, notes and dynamic tables, and checks all bounds (contract:
 * elf.h; format: System V ABI, chapters 4 and 5; GNU hash table: as glibc's loader reads it).
 *
 * Zone: NORMAL, and the fatal-signal writer (open, fstat, pread, close and process_vm_readv only).
 * Owns: the descriptors of open files; the number of troubles.
 */
#include "elf/elf.h"

#include "elf/build_id.h"
#include "sys/file_calls.h"
#include "sys/own_files.h"
#include "sys/safe_read.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    NOTES_MAX = 1024,       /* bytes of one note segment; the build id is in the first 100 */
    SECTIONS_MAX = 1 << 20, /* more than any linker makes; limits the work on a corrupt file */
    SEGMENTS_MAX = 1 << 10,
    DYNAMIC_MAX = 1 << 10,
    DYNAMIC_WINDOW = 32,        /* entries of one read: most files have no more */
    SECTION_WINDOW = 16,        /* headers of one read, 1 KiB */
    LOADED_TABLE_MAX = 1 << 28, /* a browser's relocations take a fifth of it */
    DEBUG_ROOT_MAX = 128,
    SECTION_NAME_MAX = 16 /* of the names that are looked for */
};

static const uint64_t ADDRESS_LIMIT = (uint64_t)1 << 56; /* more than any processor's user space */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static const uint8_t native_data = ELFDATA2LSB;
#else
static const uint8_t native_data = ELFDATA2MSB;
#endif

/* ---- Bytes --------------------------------------------------------------------------------- */

static unsigned troubles;

unsigned pp_elf_troubles(void)
{
    return __atomic_load_n(&troubles, __ATOMIC_RELAXED);
}

void pp_elf_note_trouble(void)
{
    __atomic_add_fetch(&troubles, 1, __ATOMIC_RELAXED);
}

static int note_unless_absent(int error)
{
    if (error != -ENOENT && error != -ENOTDIR) {
        pp_elf_note_trouble();
    }
    return error;
}

static size_t read_file(int fd, uint64_t offset, void *to, size_t size)
{
    size_t done = 0;
    while (done < size) {
        long got = pp_file_read_at(fd, (char *)to + done, size - done, offset + done);
        if (got > 0) {
            done += (size_t)got;
        } else if (got != -EINTR) {
            break;
        }
    }
    if (done < size) {
        pp_elf_note_trouble();
    }
    return done;
}

size_t pp_elf_read_some(const pp_elf *elf, uint64_t offset, void *to, size_t size)
{
    if (offset >= elf->size) {
        return 0;
    }
    if (size > elf->size - offset) {
        size = (size_t)(elf->size - offset);
    }
    if (elf->is_loaded) {
        return pp_memory_copy_part(elf->memory, to, (uintptr_t)offset, size);
    }
    if (elf->image == NULL) {
        return read_file(elf->fd, offset, to, size);
    }
    memcpy(to, elf->image + offset, size);
    return size;
}

bool pp_elf_read(const pp_elf *elf, uint64_t offset, void *to, size_t size)
{
    return pp_elf_read_some(elf, offset, to, size) == size;
}

/* ---- Opening ------------------------------------------------------------------------------- */

bool pp_elf_section(const pp_elf *elf, uint64_t index, Elf64_Shdr *section)
{
    return index < elf->section_count &&
           pp_elf_read(elf, elf->header.e_shoff + index * sizeof(*section), section,
                       sizeof(*section));
}

/* A file without usable section headers counts as a file without sections. */
static void count_sections(pp_elf *elf)
{
    elf->section_count = 0;
    if (elf->header.e_shoff == 0 || elf->header.e_shoff >= elf->size ||
        elf->header.e_shentsize != sizeof(Elf64_Shdr)) {
        return;
    }
    uint64_t room = (elf->size - elf->header.e_shoff) / sizeof(Elf64_Shdr);
    uint64_t count = elf->header.e_shnum;
    Elf64_Shdr first;
    if (count == 0 && room > 0 && pp_elf_read(elf, elf->header.e_shoff, &first, sizeof(first))) {
        count = first.sh_size; /* SHN_LORESERVE sections or more */
    }
    if (count <= room && count <= SECTIONS_MAX) {
        elf->section_count = count;
    }
}

static bool is_ours(const Elf64_Ehdr *header)
{
    const unsigned char *ident = header->e_ident;
    return memcmp(ident, ELFMAG, SELFMAG) == 0 && ident[EI_CLASS] == ELFCLASS64 &&
           ident[EI_DATA] == native_data;
}

static int read_header(pp_elf *elf)
{
    if (!pp_elf_read(elf, 0, &elf->header, sizeof(elf->header)) || !is_ours(&elf->header)) {
        return -ENOEXEC;
    }
    count_sections(elf);
    return 0;
}

/* Opening a device for reading can have effects. */
static int read_status(const pp_files *files, const char *path, struct stat *status)
{
    int fd = pp_files_open(files, path, O_PATH);
    int error = fd < 0 ? fd : pp_file_status(fd, status);
    if (fd >= 0) {
        pp_own_close(fd);
    }
    return error;
}

int pp_elf_open(pp_elf *elf, const pp_files *files, const char *path)
{
    struct stat status;
    int error = read_status(files, path, &status);
    if (error != 0) {
        return note_unless_absent(error);
    }
    if (!S_ISREG(status.st_mode)) {
        return -ENOEXEC;
    }
    int fd = pp_files_open(files, path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) {
        return note_unless_absent(fd);
    }
    *elf = (pp_elf){.fd = fd};

    error = pp_file_status(fd, &status);
    if (error == 0 && (!S_ISREG(status.st_mode) || status.st_size < 0)) {
        error = -ENOEXEC;
    }
    if (error == 0) {
        elf->size = (uint64_t)status.st_size;
        error = read_header(elf);
    }
    if (error != 0) {
        pp_elf_close(elf);
    }
    return error;
}

int pp_elf_open_image(pp_elf *elf, const void *image, size_t size)
{
    *elf = (pp_elf){.fd = -1, .image = image, .size = size};
    int error = read_header(elf);
    if (error != 0) {
        pp_elf_close(elf);
    }
    return error;
}

int pp_elf_open_loaded(pp_elf *elf, const pp_memory *memory, uintptr_t header, uintptr_t bias)
{
    *elf = (pp_elf){
        .fd = -1, .is_loaded = true, .memory = memory, .bias = bias, .size = ADDRESS_LIMIT};
    Elf64_Ehdr *found = &elf->header;
    if (!pp_memory_copy(memory, found, header, sizeof(*found)) || !is_ours(found)) {
        return -ENOEXEC;
    }
    found->e_phoff += header;
    return 0;
}

static char *put_hex(char *to, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        *to++ = "0123456789abcdef"[bytes[i] >> 4];
        *to++ = "0123456789abcdef"[bytes[i] & 15];
    }
    return to;
}

int pp_elf_open_debug(pp_elf *elf, const pp_files *files, const char *root, const uint8_t *build_id,
                      uint8_t build_id_size)
{
    static const char folder[] = "/.build-id/";
    static const char suffix[] = ".debug";
    size_t root_length = strlen(root);
    if (build_id_size < 2 || build_id_size > PP_BUILD_ID_MAX) {
        return -ENOENT;
    }
    if (root_length > DEBUG_ROOT_MAX) {
        return -ENAMETOOLONG;
    }

    char path[DEBUG_ROOT_MAX + sizeof(folder) + sizeof("xx/") + 2 * (size_t)PP_BUILD_ID_MAX +
              sizeof(suffix)];
    char *end = path;
    memcpy(end, root, root_length);
    end += root_length;
    memcpy(end, folder, sizeof(folder) - 1);
    end = put_hex(end + sizeof(folder) - 1, build_id, 1);
    *end++ = '/';
    end = put_hex(end, build_id + 1, (size_t)build_id_size - 1);
    memcpy(end, suffix, sizeof(suffix));

    int error = pp_elf_open(elf, files, path);
    if (error != 0) {
        return error;
    }
    uint8_t found[PP_BUILD_ID_MAX];
    uint8_t found_size = 0;
    if (!pp_elf_file_build_id(elf, found, &found_size) || found_size != build_id_size ||
        memcmp(found, build_id, build_id_size) != 0) {
        pp_elf_close(elf);
        return -ENOENT;
    }
    return 0;
}

void pp_elf_close(pp_elf *elf)
{
    if (elf->fd >= 0) {
        pp_own_close(elf->fd);
    }
    *elf = (pp_elf){.fd = -1};
}

/* ---- Segments and notes -------------------------------------------------------------------- */

bool pp_elf_segment(const pp_elf *elf, unsigned index, Elf64_Phdr *segment)
{
    uint64_t offset;
    return index < elf->header.e_phnum && index < SEGMENTS_MAX &&
           elf->header.e_phentsize == sizeof(*segment) &&
           !__builtin_add_overflow(elf->header.e_phoff, index * sizeof(*segment), &offset) &&
           pp_elf_read(elf, offset, segment, sizeof(*segment));
}

static bool read_segment(const pp_elf *elf, unsigned index, Elf64_Phdr *segment)
{
    bool found = pp_elf_segment(elf, index, segment);
    if (found && elf->is_loaded) {
        segment->p_offset = elf->bias + segment->p_vaddr;
    }
    return found;
}

static bool read_notes(const pp_elf *elf, uint64_t offset, uint64_t size, uint64_t alignment,
                       uint8_t build_id[PP_BUILD_ID_MAX], uint8_t *build_id_size)
{
    uint8_t notes[NOTES_MAX];
    size_t wanted = size < NOTES_MAX ? (size_t)size : NOTES_MAX;
    size_t got = pp_elf_read_some(elf, offset, notes, wanted);
    return pp_note_build_id(notes, got, (size_t)alignment, build_id, build_id_size) == 0;
}

bool pp_elf_file_build_id(const pp_elf *elf, uint8_t build_id[PP_BUILD_ID_MAX],
                          uint8_t *build_id_size)
{
    Elf64_Phdr segment = {.p_type = PT_NULL};
    for (unsigned i = 0; read_segment(elf, i, &segment); i++) {
        if (segment.p_type == PT_NOTE && read_notes(elf, segment.p_offset, segment.p_filesz,
                                                    segment.p_align, build_id, build_id_size)) {
            return true;
        }
    }
    Elf64_Shdr section;
    for (uint64_t i = 0; pp_elf_section(elf, i, &section); i++) {
        if (section.sh_type == SHT_NOTE &&
            read_notes(elf, section.sh_offset, section.sh_size, section.sh_addralign, build_id,
                       build_id_size)) {
            return true;
        }
    }
    return false;
}

/* ---- Symbol tables ------------------------------------------------------------------------- */

/* Limits a size in a header to the file's bytes. A loaded object has no known end. */
static uint64_t clamp_to_file(const pp_elf *elf, uint64_t offset, uint64_t size)
{
    if (elf->is_loaded && size > LOADED_TABLE_MAX) {
        size = LOADED_TABLE_MAX;
    }
    if (offset >= elf->size) {
        return 0;
    }
    return size < elf->size - offset ? size : elf->size - offset;
}

static bool set_symbols(const pp_elf *elf, pp_elf_symbols *symbols, uint64_t offset, uint64_t size,
                        uint64_t names_offset, uint64_t names_size)
{
    pp_elf_symbols found = {
        .offset = offset,
        .count = clamp_to_file(elf, offset, size) / sizeof(Elf64_Sym),
        .names_offset = names_offset,
        .names_size = clamp_to_file(elf, names_offset, names_size),
    };
    if (found.count < 2 || found.names_size == 0) { /* the first symbol is always the null symbol */
        return false;
    }
    *symbols = found;
    return true;
}

/* Section headers that one read has brought: a search goes from one to the next. Begins as zeros. */
typedef struct section_window {
    uint64_t first, count;
    Elf64_Shdr section[SECTION_WINDOW];
} section_window;

/* The header of this number, until the next call; NULL if there is none. */
static const Elf64_Shdr *section_in(const pp_elf *elf, section_window *window, uint64_t index)
{
    if (index >= elf->section_count) {
        return NULL;
    }
    if (index - window->first >= window->count) {
        window->first = index;
        window->count = pp_elf_read_some(elf, elf->header.e_shoff + index * sizeof(Elf64_Shdr),
                                         window->section, sizeof(window->section)) /
                        sizeof(Elf64_Shdr);
    }
    return index - window->first < window->count ? &window->section[index - window->first] : NULL;
}

bool pp_elf_symbols_by_section(const pp_elf *elf, uint32_t type, pp_elf_symbols *symbols)
{
    section_window window = {.count = 0};
    const Elf64_Shdr *section;
    Elf64_Shdr names;
    for (uint64_t i = 0; (section = section_in(elf, &window, i)) != NULL; i++) {
        if (section->sh_type == type && section->sh_entsize == sizeof(Elf64_Sym) &&
            pp_elf_section(elf, section->sh_link, &names) && names.sh_type == SHT_STRTAB &&
            set_symbols(elf, symbols, section->sh_offset, section->sh_size, names.sh_offset,
                        names.sh_size)) {
            return true;
        }
    }
    return false;
}

bool pp_elf_section_range(const pp_elf *elf, uint16_t index, uint64_t *start, uint64_t *limit)
{
    Elf64_Shdr section;
    if (index == SHN_UNDEF || index >= SHN_LORESERVE || !pp_elf_section(elf, index, &section) ||
        (section.sh_flags & SHF_ALLOC) == 0) {
        return false;
    }
    uint64_t end;
    if (__builtin_add_overflow(section.sh_addr, section.sh_size, &end)) {
        return false;
    }
    *start = section.sh_addr;
    *limit = end;
    return true;
}

/* Translates a link-time address to a file offset, by the PT_LOAD segments. */
static bool offset_of(const pp_elf *elf, uint64_t address, uint64_t *offset)
{
    Elf64_Phdr segment;
    return pp_elf_segment_of(elf, address, &segment) &&
           !__builtin_add_overflow(segment.p_offset, address - segment.p_vaddr, offset);
}

bool pp_elf_segment_of(const pp_elf *elf, uint64_t address, Elf64_Phdr *found)
{
    Elf64_Phdr segment = {.p_type = PT_NULL};
    for (unsigned i = 0; read_segment(elf, i, &segment); i++) {
        if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
            address - segment.p_vaddr < segment.p_filesz) {
            *found = segment;
            return true;
        }
    }
    return false;
}

/*
 * A GNU hash table does not hold the number of symbols; the end of the last chain determines it.
 *   [nbuckets][first hashed symbol][bloom words][bloom shift] bloom[8 bytes] buckets[4] chains[4]
 */
static uint64_t gnu_hash_count(const pp_elf *elf, uint64_t table)
{
    uint32_t head[4];
    uint64_t buckets, chains;
    if (!pp_elf_read(elf, table, head, sizeof(head)) ||
        __builtin_add_overflow(table, sizeof(head) + sizeof(uint64_t) * head[2], &buckets) ||
        __builtin_add_overflow(buckets, sizeof(uint32_t) * head[0], &chains)) {
        return 0;
    }

    uint32_t last = 0; /* the highest first symbol of a bucket */
    for (uint32_t i = 0, first; i < head[0]; i++) {
        if (!pp_elf_read(elf, buckets + 4 * (uint64_t)i, &first, sizeof(first))) {
            return 0;
        }
        last = first > last ? first : last;
    }
    if (last < head[1] || last == 0) {
        return head[1];
    }
    for (uint32_t hash;; last++) {
        uint64_t offset;
        if (__builtin_add_overflow(chains, 4 * (uint64_t)(last - head[1]), &offset) ||
            !pp_elf_read(elf, offset, &hash, sizeof(hash))) {
            return 0;
        }
        if ((hash & 1) != 0 || last == UINT32_MAX) {
            return (uint64_t)last + 1;
        }
    }
}

/* Accepts an address of the file or a run-time address: some loaders relocate the addresses in the
 * dynamic table, and not in every file. */
static bool offset_of_table(const pp_elf *elf, uint64_t address, uint64_t *offset)
{
    if (offset_of(elf, address, offset)) {
        return true;
    }
    *offset = address;
    return elf->is_loaded && address >= elf->bias;
}

typedef struct dynamic_tables {
    uint64_t symbols, names, names_size, hash, gnu_hash; /* addresses; 0 = none */
    uint64_t stub_relocations, stub_relocations_size;
    uint64_t relocations, relocations_size, relative_count;
} dynamic_tables;

static void note_entry(dynamic_tables *tables, const Elf64_Dyn *entry)
{
    const struct {
        int64_t tag;
        uint64_t *value;
    } wanted[] = {
        {DT_SYMTAB, &tables->symbols},
        {DT_STRTAB, &tables->names},
        {DT_STRSZ, &tables->names_size},
        {DT_HASH, &tables->hash},
        {DT_GNU_HASH, &tables->gnu_hash},
        {DT_JMPREL, &tables->stub_relocations},
        {DT_PLTRELSZ, &tables->stub_relocations_size},
        {DT_RELA, &tables->relocations},
        {DT_RELASZ, &tables->relocations_size},
        {DT_RELACOUNT, &tables->relative_count},
    };
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        if (entry->d_tag == wanted[i].tag) {
            *wanted[i].value = entry->d_un.d_val;
        }
    }
}

static bool read_dynamic(const pp_elf *elf, dynamic_tables *tables)
{
    Elf64_Phdr segment = {.p_type = PT_NULL};
    unsigned index = 0;
    while (read_segment(elf, index, &segment) && segment.p_type != PT_DYNAMIC) {
        index++;
    }
    if (!read_segment(elf, index, &segment)) {
        return false;
    }

    *tables = (dynamic_tables){0};
    Elf64_Dyn window[DYNAMIC_WINDOW];
    uint64_t count = clamp_to_file(elf, segment.p_offset, segment.p_filesz) / sizeof(*window);
    for (uint64_t i = 0; i < count && i < DYNAMIC_MAX; i++) {
        if (i % DYNAMIC_WINDOW == 0) {
            memset(window, 0, sizeof(window)); /* DT_NULL */
            pp_elf_read_some(elf, segment.p_offset + i * sizeof(*window), window, sizeof(window));
        }
        if (window[i % DYNAMIC_WINDOW].d_tag == DT_NULL) {
            break;
        }
        note_entry(tables, &window[i % DYNAMIC_WINDOW]);
    }
    return true;
}

bool pp_elf_symbols_by_dynamic(const pp_elf *elf, pp_elf_symbols *symbols)
{
    dynamic_tables tables;
    uint64_t offset, names_offset, hash_offset;
    if (!read_dynamic(elf, &tables) || !offset_of_table(elf, tables.symbols, &offset) ||
        !offset_of_table(elf, tables.names, &names_offset)) {
        return false;
    }

    uint64_t count = 0;
    uint32_t head[2]; /* [buckets][chains]: one chain entry for each symbol */
    if (tables.hash != 0 && offset_of_table(elf, tables.hash, &hash_offset) &&
        pp_elf_read(elf, hash_offset, head, sizeof(head))) {
        count = head[1];
    } else if (tables.gnu_hash != 0 && offset_of_table(elf, tables.gnu_hash, &hash_offset)) {
        count = gnu_hash_count(elf, hash_offset);
    }
    return set_symbols(elf, symbols, offset, count * sizeof(Elf64_Sym), names_offset,
                       tables.names_size);
}

/* ---- Relocations and stubs ----------------------------------------------------------------- */

static void set_relocations(const pp_elf *elf, pp_elf_relocations *relocations, unsigned part,
                            uint64_t address, uint64_t size, uint64_t skipped)
{
    uint64_t offset;
    if (address == 0 || !offset_of_table(elf, address, &offset)) {
        return;
    }
    uint64_t count = clamp_to_file(elf, offset, size) / sizeof(Elf64_Rela);
    if (skipped >= count) {
        return;
    }
    relocations->part[part].offset = offset + skipped * sizeof(Elf64_Rela);
    relocations->part[part].count = count - skipped;
}

bool pp_elf_relocations_find(const pp_elf *elf, pp_elf_relocations *relocations)
{
    dynamic_tables tables;
    *relocations = (pp_elf_relocations){0};
    if (!read_dynamic(elf, &tables)) {
        return false;
    }
    set_relocations(elf, relocations, 0, tables.stub_relocations, tables.stub_relocations_size, 0);
    set_relocations(elf, relocations, 1, tables.relocations, tables.relocations_size,
                    tables.relative_count);
    return relocations->part[0].count + relocations->part[1].count > 0;
}

bool pp_elf_section_begins(const pp_elf *elf, const Elf64_Shdr *section, const char *text,
                           size_t length)
{
    char name[SECTION_NAME_MAX];
    Elf64_Shdr names;
    return length <= sizeof(name) && pp_elf_section(elf, elf->header.e_shstrndx, &names) &&
           section->sh_name < names.sh_size &&
           pp_elf_read(elf, names.sh_offset + section->sh_name, name, length) &&
           memcmp(name, text, length) == 0;
}

bool pp_elf_stubs_next(const pp_elf *elf, uint64_t *index, pp_elf_stubs *stubs)
{
    static const char prefix[] = ".plt";
    section_window window = {.count = 0};
    const Elf64_Shdr *section;
    uint64_t end;
    while ((section = section_in(elf, &window, (*index)++)) != NULL) {
        if (section->sh_type == SHT_PROGBITS && (section->sh_flags & SHF_EXECINSTR) != 0 &&
            pp_elf_section_begins(elf, section, prefix, sizeof(prefix) - 1) &&
            !__builtin_add_overflow(section->sh_addr, section->sh_size, &end)) {
            *stubs = (pp_elf_stubs){section->sh_addr, end, section->sh_offset, section->sh_entsize};
            return true;
        }
    }
    return false;
}

bool pp_elf_frame_header(const pp_elf *elf, uint64_t *address, uint64_t *offset, uint64_t *size)
{
    Elf64_Phdr segment = {.p_type = PT_NULL};
    unsigned index = 0;
    while (read_segment(elf, index, &segment) && segment.p_type != PT_GNU_EH_FRAME) {
        index++;
    }
    if (!read_segment(elf, index, &segment)) {
        return false;
    }
    *address = segment.p_vaddr;
    *offset = segment.p_offset;
    *size = clamp_to_file(elf, segment.p_offset, segment.p_filesz);
    return *size > 0;
}

bool pp_elf_first_address(const pp_elf *elf, uint64_t *address)
{
    Elf64_Phdr segment = {.p_type = PT_NULL};
    for (unsigned i = 0; read_segment(elf, i, &segment); i++) {
        if (segment.p_type == PT_LOAD && segment.p_offset == 0 && segment.p_filesz > 0) {
            *address = segment.p_vaddr;
            return true;
        }
    }
    return false;
}
