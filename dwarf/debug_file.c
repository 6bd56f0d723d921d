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

static int look_at(const pprof_dwarf_host *host, const char *path, candidate *c)
{
    *c = (candidate){.host = host, .fd = host->open(host->context, path)};
    if (c->fd < 0) {
        return c->fd;
    }
    c->elf = elf_begin(c->fd, ELF_C_READ, NULL); /* not mapped: see debug_copy.h */
    if (c->elf == NULL || elf_kind(c->elf) != ELF_K_ELF) {
        give_up(c);
        return -ENOEXEC;
    }
    return 0;
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
    candidate found;
} search;

static bool is_taken(search *s, const char *path, const GElf_Word *checksum)
{
    const pprof_dwarf_module *module = s->module;
    candidate c;
    if (look_at(s->host, path, &c) != 0) {
        return false;
    }
    bool same = has_build_id(&c, module->build_id, module->build_id_size);
    if (module->build_id_size == 0) {
        same = same && checksum != NULL && has_checksum(&c, *checksum);
    }
    if (same && pp_debug_copy_has_lines(c.elf)) {
        s->found = c;
        return true;
    }
    give_up(&c);
    return false;
}

static bool find_by_build_id(search *s)
{
    char path[PATH_MAX];
    return build_id_path(path, s->module->build_id, s->module->build_id_size) &&
           is_taken(s, path, NULL);
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

/* The module's own file is opened first: its .gnu_debuglink names another candidate. */
static int find(search *s)
{
    const pprof_dwarf_module *module = s->module;
    candidate own;
    int error =
        look_at(s->host, module->opened_path != NULL ? module->opened_path : module->path, &own);
    if (error == 0 && !has_build_id(&own, module->build_id, module->build_id_size)) {
        give_up(&own);
        error = -ENOENT;
    }
    if (error == 0 && pp_debug_copy_has_lines(own.elf)) {
        s->found = own;
        return 0;
    }
    bool found = find_by_build_id(s) || (error == 0 && find_by_link(s, own.elf));
    if (error == 0) {
        give_up(&own);
    }
    return found ? 0 : error != 0 ? error : -ENOENT;
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

static int open_dwarf(candidate *c, void (*no_memory)(void), pp_debug_copy *copy, Dwarf **dwarf)
{
    int error = pp_debug_copy_make(c->elf, c->fd, copy);
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
        if (gelf_getphdr(elf, (int)i, &header) == NULL || header.p_type != PT_LOAD ||
            (header.p_flags & PF_X) == 0) {
            continue;
        }
        lo = header.p_vaddr < lo ? header.p_vaddr : lo;
        hi = header.p_vaddr + header.p_memsz > hi ? header.p_vaddr + header.p_memsz : hi;
    }
    file->code_lo = lo < hi ? lo : 0;
    file->code_hi = lo < hi ? hi : (Dwarf_Addr)-1;
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
        error = open_dwarf(&c, no_memory, &file->shared_copy, &file->shared);
    }
    if (file->shared != NULL) {
        dwarf_setalt(file->dwarf, file->shared);
    }
    give_up(&c);
    return error;
}

int pp_debug_file_open(const pprof_dwarf_module *module, const pprof_dwarf_host *host,
                       void (*no_memory)(void), pp_debug_file *file)
{
    search s = {.module = module, .host = host, .found = {.fd = -1}};
    *file = (pp_debug_file){0};
    elf_version(EV_CURRENT);
    int error = find(&s);
    if (error != 0) {
        return error;
    }
    find_code(s.found.elf, file);
    error = open_dwarf(&s.found, no_memory, &file->copy, &file->dwarf);
    if (error == 0) {
        error = open_shared(&s, no_memory, file);
    }
    give_up(&s.found);
    if (error != 0) {
        pp_debug_file_release(file);
    }
    return error;
}

void pp_debug_file_release(pp_debug_file *file)
{
    dwarf_end(file->dwarf);
    dwarf_end(file->shared);
    pp_debug_copy_release(&file->copy);
    pp_debug_copy_release(&file->shared_copy);
    *file = (pp_debug_file){0};
}
