/* SPDX-License-Identifier: MIT
 *
 * places.c: maps, modules, records, names.
 *
 * Zone: tests.
 * Owns: all of it.
 */
#include "places.h"

#include "symbol/names.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096, ADDRESS_BITS = 48, STACK_ROOM = 8 << 20 };

typedef struct mapping {
    uint64_t lo, hi, offset;
    unsigned module;
} mapping;

static mapping *mappings;
static size_t mapping_count, mapping_room;
static bool stale = true;
static place_module modules[PLACES_MODULES];
static unsigned module_count;
static place_record *records;
static size_t record_count, record_room;

static void *must(void *memory)
{
    if (memory == NULL) {
        perror("compare");
        exit(2);
    }
    return memory;
}

/* ---- modules ---- */

static void read_notes(place_module *module, const uint8_t *notes, size_t size)
{
    size_t at = 0;
    while (at + sizeof(Elf64_Nhdr) <= size) {
        Elf64_Nhdr note;
        memcpy(&note, notes + at, sizeof note);
        size_t description = at + sizeof note + ((note.n_namesz + 3u) & ~3u);
        if (description + note.n_descsz > size) {
            return;
        }
        if (note.n_type == NT_GNU_BUILD_ID && note.n_descsz <= sizeof module->build_id) {
            memcpy(module->build_id, notes + description, note.n_descsz);
            module->build_id_size = note.n_descsz;
            return;
        }
        at = description + ((note.n_descsz + 3u) & ~3u);
    }
}

static void read_segments(place_module *module, const uint8_t *image, size_t size)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)image;
    if (size < sizeof *header || memcmp(image, ELFMAG, SELFMAG) != 0) {
        return;
    }
    const Elf64_Phdr *segments = (const Elf64_Phdr *)(image + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; i++) {
        const Elf64_Phdr *p = &segments[i];
        if (p->p_type == PT_LOAD && (p->p_flags & PF_X)) {
            module->file_to_address = p->p_vaddr - p->p_offset;
            module->code_lo = p->p_vaddr & ~(uint64_t)(PAGE - 1);
            module->code_hi = (p->p_vaddr + p->p_memsz + PAGE - 1) & ~(uint64_t)(PAGE - 1);
        } else if (p->p_type == PT_NOTE && p->p_offset + p->p_filesz <= size &&
                   module->build_id_size == 0) {
            read_notes(module, image + p->p_offset, p->p_filesz);
        }
    }
}

static void read_file(place_module *module)
{
    struct stat status;
    int fd = open(module->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return;
    }
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        size_t size = (size_t)status.st_size;
        void *image = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (image != MAP_FAILED) {
            read_segments(module, image, size);
            munmap(image, size);
        }
    }
    close(fd);
}

static unsigned module_named(const char *name)
{
    for (unsigned i = module_count; i > 0; i--) {
        if (strcmp(modules[i - 1].path, name) == 0) {
            return i - 1;
        }
    }
    if (module_count == PLACES_MODULES) {
        fprintf(stderr, "compare: more than %d files are mapped\n", PLACES_MODULES);
        exit(2);
    }
    place_module *module = &modules[module_count];
    module->path = must(strdup(name));
    module->has_file = name[0] == '/';
    if (module->has_file) {
        read_file(module);
    }
    return module_count++;
}

/* ---- mappings ---- */

void places_stale(void)
{
    stale = true;
}

static void add_mapping(const char *line)
{
    unsigned long lo = 0;
    unsigned long hi = 0;
    unsigned long offset = 0;
    int path_at = 0;
    char path[PAGE];
    // NOLINTNEXTLINE(cert-err34-c): the kernel wrote it
    if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %n", &lo, &hi, &offset, &path_at) < 3) {
        return;
    }
    snprintf(path, sizeof path, "%s", line + path_at);
    path[strcspn(path, "\n")] = '\0';
    if (mapping_count == mapping_room) {
        mapping_room = mapping_room * 2 + 256;
        mappings = must(realloc(mappings, mapping_room * sizeof *mappings));
    }
    mappings[mapping_count++] =
        (mapping){.lo = lo, .hi = hi, .offset = offset, .module = module_named(path)};
}

static void read_mappings(pid_t pid)
{
    char path[64];
    char line[2 * PAGE];
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    FILE *file = must(fopen(path, "re"));
    if (module_count == 0) {
        module_named(""); /* 0: without a file */
    }
    mapping_count = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        add_mapping(line);
    }
    fclose(file);
    stale = false;
}

static const mapping *search(uint64_t address)
{
    size_t low = 0;
    size_t high = mapping_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (address < mappings[middle].lo) {
            high = middle;
        } else if (address >= mappings[middle].hi) {
            low = middle + 1;
        } else {
            return &mappings[middle];
        }
    }
    return NULL;
}

static const mapping *find_mapping(pid_t pid, uint64_t address)
{
    static mapping last;
    if (!stale && address >= last.lo && address < last.hi) {
        return &last;
    }
    const mapping *found = stale ? NULL : search(address);
    if (found == NULL) {
        read_mappings(pid);
        found = search(address);
    }
    last = found != NULL ? *found : (mapping){0};
    return found != NULL ? &last : NULL;
}

bool places_mapping(pid_t pid, uint64_t address, uint64_t *lo, uint64_t *hi)
{
    const mapping *m = find_mapping(pid, address);
    if (m == NULL) {
        return false;
    }
    *lo = strcmp(modules[m->module].path, "[stack]") == 0 ? m->hi - STACK_ROOM : m->lo;
    *hi = m->hi;
    return true;
}

place places_find(pid_t pid, uint64_t pc)
{
    const mapping *m = find_mapping(pid, pc);
    if (m == NULL || modules[m->module].path[0] == '\0') {
        return (place){0, pc};
    }
    return (place){m->module, pc - m->lo + m->offset + modules[m->module].file_to_address};
}

/* ---- records ---- */

static uint64_t key_of(place where)
{
    return ((uint64_t)where.module + 1) << ADDRESS_BITS | where.address;
}

place places_of_record(const place_record *record)
{
    return (place){(unsigned)(record->key >> ADDRESS_BITS) - 1,
                   record->key & ((UINT64_C(1) << ADDRESS_BITS) - 1)};
}

static place_record *slot_of(uint64_t key)
{
    size_t mask = record_room - 1;
    size_t i = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & mask;
    while (records[i].key != 0 && records[i].key != key) {
        i = (i + 1) & mask;
    }
    return &records[i];
}

static void grow_records(void)
{
    place_record *old = records;
    size_t old_room = record_room;
    record_room = old_room == 0 ? 1 << 16 : old_room * 2;
    records = must(calloc(record_room, sizeof *records));
    for (size_t i = 0; i < old_room; i++) {
        if (old[i].key != 0) {
            *slot_of(old[i].key) = old[i];
        }
    }
    free(old);
}

place_record *places_record(place where)
{
    uint64_t key = key_of(where);
    if (record_count * 2 >= record_room) {
        grow_records();
    }
    place_record *record = slot_of(key);
    if (record->key == 0) {
        record->key = key;
        record_count++;
    }
    return record;
}

const place_record *places_next(const place_record *previous)
{
    size_t i = previous == NULL ? 0 : (size_t)(previous - records) + 1;
    while (i < record_room && records[i].key == 0) {
        i++;
    }
    return i < record_room ? &records[i] : NULL;
}

bool places_is_file(place where)
{
    return modules[where.module].has_file;
}

const place_module *places_module(unsigned module)
{
    return &modules[module];
}

unsigned places_module_count(void)
{
    return module_count;
}

/* ---- names ---- */

const char *places_symbol(place where, uint64_t *offset)
{
    static pp_arena arena = PP_ARENA_INIT;
    const place_module *module = &modules[where.module];
    pp_mapping code = {.start = module->code_lo,
                       .limit = module->code_hi,
                       .path = module->path,
                       .build_id_size = (uint8_t)module->build_id_size};
    pp_symbol symbol = {0};
    uintptr_t address = where.address;
    memcpy(code.build_id, module->build_id, module->build_id_size);
    if (strcmp(module->path, "[vdso]") == 0) { /* ours is the same as the program's */
        code.bias = code.start = getauxval(AT_SYSINFO_EHDR);
        code.limit = code.start + 2 * (uint64_t)PAGE;
        code.in_memory = true;
        address += code.bias;
    } else if (!module->has_file) {
        return "";
    }
    if (pp_symbols_resolve(&code, &address, 1, &symbol, &arena) == 0 || symbol.name == NULL) {
        return "";
    }
    *offset = address - symbol.entry;
    return symbol.name;
}
