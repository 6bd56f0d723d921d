/* SPDX-License-Identifier: MIT
 *
 * debug_file.c: tries one candidate after the other, and checks each.
 *
 * Owns: nothing.
 */
#include "dwarf/debug_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

/* An open file that may have the debug information. */
typedef struct candidate {
    const pprof_dwarf_host *host;
    int fd;
    Elf *elf;
} candidate;

static void give_up(candidate *c)
{
    elf_end(c->elf);
    if (c->fd >= 0) {
        c->host->close(c->host->context, c->fd);
    }
    *c = (candidate){.fd = -1};
}

static int begin(const pprof_dwarf_host *host, int fd, candidate *c)
{
    *c = (candidate){.host = host, .fd = fd};
    c->elf = elf_begin(c->fd, ELF_C_READ, NULL); /* not mapped: see debug_copy.h */
    if (c->elf == NULL || elf_kind(c->elf) != ELF_K_ELF) {
        give_up(c);
        return -ENOEXEC;
    }
    return 0;
}

static int look_at(const pprof_dwarf_host *host, const char *path, candidate *c)
{
    int fd = host->open(host->context, path);
    *c = (candidate){.fd = -1};
    return fd < 0 ? fd : begin(host, fd, c);
}

static bool has_build_id(const candidate *c, const void *build_id, size_t size)
{
    const void *found = NULL;
    ssize_t found_size = dwelf_elf_gnu_build_id(c->elf, &found);
    if (found_size < 0) {
        found_size = 0;
    }
    return (size_t)found_size == size && (size == 0 || memcmp(found, build_id, size) == 0);
}

/* ---- where separate files are ---- */

/* False if the path is too long. */
static bool build_id_path(char path[PATH_MAX], const uint8_t *build_id, size_t size)
{
    size_t length = (size_t)snprintf(path, PATH_MAX, "%s/.build-id/", PP_DEBUG_ROOT);
    if (size < 2 || length + 2 * size + sizeof "/.debug" > PATH_MAX) {
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        length += (size_t)snprintf(path + length, PATH_MAX - length, i == 0 ? "%02x/" : "%02x",
                                   build_id[i]);
    }
    snprintf(path + length, PATH_MAX - length, ".debug");
    return true;
}

static bool join(char path[PATH_MAX], const char *root, const char *folder, const char *below,
                 const char *name)
{
    int length = snprintf(path, PATH_MAX, "%s%s/%s%s", root, folder, below, name);
    return length > 0 && length < PATH_MAX;
}

/* The folder of the file; `resolved`: after symbolic links, if they can be followed. */
static void folder_of(const char *file, bool resolved, char folder[PATH_MAX])
{
    snprintf(folder, PATH_MAX, "%s", file);
    if (resolved) {
        char *real = realpath(file, NULL);
        snprintf(folder, PATH_MAX, "%s", real != NULL ? real : file);
        free(real);
    }
    char *slash = strrchr(folder, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
}

static bool has_checksum(const candidate *c, GElf_Word wanted)
{
    unsigned char block[16384];
    uLong sum = crc32(0, NULL, 0);
    off_t at = 0;
    ssize_t got = 0;
    while ((got = pread(c->fd, block, sizeof block, at)) > 0) {
        sum = crc32(sum, block, (uInt)got);
        at += got;
    }
    return got == 0 && sum == wanted;
}

/* ---- one candidate after the other ---- */

typedef struct search {
    const pprof_dwarf_module *module;
    const pprof_dwarf_host *host;
    const uint8_t *build_id; /* the module's; if that is unknown, its file's */
    size_t build_id_size;
    candidate own; /* the module's own file, if it is of that build */
    candidate found;
    bool
        link_differs; /* the file that .gnu_debuglink names has lines, but those of another build */
} search;

/* Whether the file has what the host asks for. */
static bool has_wanted(const search *s, Elf *elf)
{
    return s->host->names_only ? pp_symbols_are_whole(elf) : pp_debug_copy_has_lines(elf);
}

static bool is_right(search *s, const candidate *c, const GElf_Word *checksum)
{
    if (!has_build_id(c, s->build_id, s->build_id_size) ||
        (s->build_id_size == 0 && (checksum == NULL || !has_checksum(c, *checksum)))) {
        return false;
    }
    return has_wanted(s, c->elf);
}

static bool is_taken(search *s, const char *path, const GElf_Word *checksum)
{
    candidate c;
    if (look_at(s->host, path, &c) != 0) {
        return false;
    }
    if (is_right(s, &c, checksum)) {
        s->found = c;
        return true;
    }
    s->link_differs = s->link_differs || (checksum != NULL && has_wanted(s, c.elf));
    give_up(&c);
    return false;
}

static bool find_by_build_id(search *s)
{
    char path[PATH_MAX];
    return build_id_path(path, s->build_id, s->build_id_size) && is_taken(s, path, NULL);
}

static bool find_elsewhere(search *s)
{
    if (s->host->fetch == NULL || s->host->names_only || s->build_id_size == 0) {
        return false;
    }
    int fd = s->host->fetch(s->host->context, s->build_id, s->build_id_size);
    candidate c;
    if (fd < 0 || begin(s->host, fd, &c) != 0) {
        return false;
    }
    if (is_right(s, &c, NULL)) {
        s->found = c;
        return true;
    }
    give_up(&c);
    return false;
}

static bool find_by_link(search *s, Elf *elf)
{
    static const struct {
        const char *root, *below;
    } places[] = {{"", ""}, {"", ".debug/"}, {PP_DEBUG_ROOT, ""}};
    GElf_Word checksum = 0;
    const char *name = dwelf_elf_gnu_debuglink(elf, &checksum);
    char folder[PATH_MAX];
    char path[PATH_MAX];
    for (int resolved = 0; name != NULL && *name != '\0' && resolved < 2; resolved++) {
        folder_of(s->module->path, resolved, folder);
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            if (join(path, places[i].root, folder, places[i].below, name) &&
                is_taken(s, path, &checksum)) {
                return true;
            }
        }
    }
    return false;
}

/* Takes the file's build id for that of a module without a known one. */
static void learn_build_id(search *s)
{
    const void *found = NULL;
    ssize_t size = dwelf_elf_gnu_build_id(s->own.elf, &found);
    s->build_id = found;
    s->build_id_size = size > 0 ? (size_t)size : 0;
}

/* Opens the module's own file. Its .gnu_debuglink names another candidate. */
static int open_own(search *s)
{
    const pprof_dwarf_module *module = s->module;
    int error =
        look_at(s->host, module->opened_path != NULL ? module->opened_path : module->path, &s->own);
    if (error != 0) {
        return error;
    }
    if (module->any_build) {
        learn_build_id(s);
    } else if (!has_build_id(&s->own, s->build_id, s->build_id_size)) {
        give_up(&s->own);
        return -ESTALE;
    }
    return 0;
}

static int find_debug_file(search *s)
{
    int error = open_own(s);
    if (error == 0 && has_wanted(s, s->own.elf)) {
        s->found = s->own;
        return 0;
    }
    if (find_by_build_id(s) || (error == 0 && find_by_link(s, s->own.elf)) || find_elsewhere(s)) {
        return 0;
    }
    return error != 0 ? error : s->link_differs ? -ENOLINK : -ENOENT;
}

/* ---- opening ---- */

/* Whether there is enough memory for libdw. It ends the process if some of its allocations fail
 * (assert). So the most that it may need is mapped and unmapped first. Its tables are smaller than
 * the sections that they are made of, except for LEAST. */
static bool is_memory_left(const pp_debug_copy *copy)
{
    enum { LEAST = 16 << 20 };
    size_t bytes = copy->bytes + LEAST;
    void *all = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return all != MAP_FAILED && munmap(all, bytes) == 0;
}

static int open_dwarf(const search *s, const candidate *c, void (*no_memory)(void),
                      pp_debug_copy *copy, Dwarf **dwarf)
{
    int error = pp_debug_copy_make(c->elf, c->fd, s->host->most_bytes, copy);
    if (error == 0 && !is_memory_left(copy)) {
        error = -ENOMEM;
    }
    if (error == 0) {
        *dwarf = dwarf_begin_elf(copy->elf, DWARF_C_READ, NULL);
        error = *dwarf != NULL ? 0 : -ENOEXEC;
    }
    if (error == 0) {
        dwarf_new_oom_handler(*dwarf, (Dwarf_OOM)no_memory);
    }
    return error;
}

static bool is_code(Elf *elf, size_t index, GElf_Phdr *header)
{
    return gelf_getphdr(elf, (int)index, header) != NULL && header->p_type == PT_LOAD &&
           (header->p_flags & PF_X) != 0;
}

/* Code at other addresses does not exist: a linker that drops a function may leave its debug
 * information, at the address 0. */
static void find_code(Elf *elf, pp_debug_file *file)
{
    size_t count = 0;
    Dwarf_Addr lo = (Dwarf_Addr)-1;
    Dwarf_Addr hi = 0;
    elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (is_code(elf, i, &header)) {
            lo = header.p_vaddr < lo ? header.p_vaddr : lo;
            hi = header.p_vaddr + header.p_memsz > hi ? header.p_vaddr + header.p_memsz : hi;
        }
    }
    file->code_lo = lo < hi ? lo : 0;
    file->code_hi = lo < hi ? hi : (Dwarf_Addr)-1;
}

/* Finds the bias of the mapping. objcopy changes the offsets of segments in a debug file: if no
 * segment has the mapping's offset, the first one with code was mapped. */
static Dwarf_Addr bias_of(const pprof_dwarf_module *module, Elf *elf)
{
    enum { PAGE = 4096 };
    const uint64_t in_page = PAGE - 1;
    GElf_Ehdr elf_header;
    GElf_Phdr header;
    size_t count = 0;
    uint64_t first = 0;
    bool found = false;
    if (module->limit == 0) {
        return module->bias;
    }
    if (gelf_getehdr(elf, &elf_header) != NULL && elf_header.e_type == ET_EXEC) {
        return 0;
    }
    elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count; i++) {
        if (!is_code(elf, i, &header)) {
            continue;
        }
        if (module->offset >= (header.p_offset & ~in_page) &&
            module->offset < header.p_offset + header.p_filesz) {
            return module->start - module->offset + header.p_offset - header.p_vaddr;
        }
        first = found ? first : header.p_vaddr & ~in_page;
        found = true;
    }
    return module->start - first;
}

/* Opens the shared file by its build id, else by its name, which is absolute or relative to the
 * folder of the file that was found. */
static bool look_at_shared(const search *s, const char *name, const uint8_t *build_id, size_t size,
                           candidate *c)
{
    char path[PATH_MAX];
    if (build_id_path(path, build_id, size) && look_at(s->host, path, c) == 0) {
        return true;
    }
    char own[64];
    char link[PATH_MAX];
    snprintf(own, sizeof own, "/proc/self/fd/%d", s->found.fd);
    ssize_t length = readlink(own, link, sizeof link - 1);
    if (name[0] == '/' || length <= 0) {
        return look_at(s->host, name, c) == 0;
    }
    link[length] = '\0';
    char folder[PATH_MAX];
    folder_of(link, false, folder);
    return join(path, "", folder, "", name) && look_at(s->host, path, c) == 0;
}

/* Without the shared file many names are missing, but no line. If it exists it has to be opened
 * here: else libdw would open it, and map it. */
static int open_shared(const search *s, void (*no_memory)(void), pp_debug_file *file)
{
    const char *name = NULL;
    const void *build_id = NULL;
    ssize_t size = dwelf_dwarf_gnu_debugaltlink(file->dwarf, &name, &build_id);
    candidate c;
    if (size <= 0 || !look_at_shared(s, name, build_id, (size_t)size, &c)) {
        return 0;
    }
    int error = 0;
    if (has_build_id(&c, build_id, (size_t)size)) {
        error = open_dwarf(s, &c, no_memory, &file->shared_copy, &file->shared);
    }
    if (file->shared != NULL) {
        dwarf_setalt(file->dwarf, file->shared);
    }
    give_up(&c);
    return error;
}

/* Symbols are in the module's file, and if that is stripped, in the debug file. A host that wants
 * only names knows those of .dynsym: it is not worth the time if there is no other table. */
static void read_symbols(const search *s, pp_symbols *symbols)
{
    if (s->own.elf != NULL && !s->host->names_only) {
        pp_symbols_read(symbols, s->own.elf);
    }
    if (s->found.elf != NULL && (s->host->names_only || s->found.elf != s->own.elf)) {
        pp_symbols_read(symbols, s->found.elf);
    }
    pp_symbols_sort(symbols);
}

static void give_up_all(search *s)
{
    if (s->own.elf != s->found.elf) {
        give_up(&s->own);
    }
    give_up(&s->found);
}

int pp_debug_file_open(const pprof_dwarf_module *module, const pprof_dwarf_host *host,
                       void (*no_memory)(void), pp_debug_file *file)
{
    search s = {.module = module,
                .host = host,
                .build_id = module->build_id,
                .build_id_size = module->build_id_size,
                .own = {.fd = -1},
                .found = {.fd = -1}};
    *file = (pp_debug_file){0};
    elf_version(EV_CURRENT);
    int error = find_debug_file(&s);
    Elf *mapped = s.own.elf != NULL ? s.own.elf : s.found.elf;
    if (mapped != NULL) {
        file->bias = bias_of(module, mapped);
    }
    if (host->wants_names || host->names_only) {
        read_symbols(&s, &file->symbols);
    }
    if (error == 0 && !host->names_only) {
        find_code(s.found.elf, file);
        error = open_dwarf(&s, &s.found, no_memory, &file->copy, &file->dwarf);
    }
    if (file->dwarf != NULL && error == 0) {
        error = open_shared(&s, no_memory, file);
    }
    give_up_all(&s);
    return error;
}

void pp_debug_file_release(pp_debug_file *file)
{
    dwarf_end(file->dwarf);
    dwarf_end(file->shared);
    pp_symbols_release(&file->symbols);
    pp_debug_copy_release(&file->copy);
    pp_debug_copy_release(&file->shared_copy);
    *file = (pp_debug_file){0};
}
