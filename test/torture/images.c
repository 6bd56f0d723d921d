/* SPDX-License-Identifier: MIT
 *
 * images.c: see images.h.
 *
 * Zone: tests.
 */
#include "torture/images.h"

#include "torture/machine.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { IMAGES_MAX = 512, RANGES_MAX = 512, SPACES_MAX = 64 };

typedef struct image {
    char *path;
    const char *name;
    const uint8_t *data; /* NULL: cannot be read */
    size_t size;
    code_kind kind;
    uint64_t table_from,
        table_to; /* what is read-only after relocation, by addresses of the file */
} image;

typedef struct range {
    uintptr_t from, to;
    unsigned long offset;
    const image *image;
} range;

typedef struct space {
    pid_t process;
    unsigned count;
    range ranges[RANGES_MAX];
} space;

static image images[IMAGES_MAX];
static unsigned image_count;
static space spaces[SPACES_MAX];

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static code_kind kind_of(const char *name)
{
    static const char *const system[] = {"libc.so", "libc-",      "ld-linux", "ld-",
                                         "[vdso]",  "libpthread", "librt",    "libdl"};
    if (begins(name, "libpprof.so") || begins(name, "libpprof-attach.so")) {
        return CODE_LIBRARY;
    }
    if (begins(name, "libpprof-")) {
        return CODE_COMPANION;
    }
    for (unsigned i = 0; i < sizeof system / sizeof *system; i++) {
        if (begins(name, system[i])) {
            return CODE_SYSTEM;
        }
    }
    return CODE_PROGRAM;
}

/* ---- files ---- */

static const Elf64_Phdr *header_of(const image *i, unsigned n)
{
    const Elf64_Ehdr *elf = (const Elf64_Ehdr *)i->data;
    if (i->data == NULL || i->size < sizeof *elf || memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 ||
        n >= elf->e_phnum || elf->e_phoff + (n + 1) * sizeof(Elf64_Phdr) > i->size) {
        return NULL;
    }
    return (const Elf64_Phdr *)(i->data + elf->e_phoff) + n;
}

static void find_table(image *i)
{
    const Elf64_Phdr *header = NULL;
    for (unsigned n = 0; (header = header_of(i, n)) != NULL; n++) {
        if (header->p_type == PT_GNU_RELRO) {
            i->table_from = header->p_vaddr;
            i->table_to = header->p_vaddr + header->p_memsz;
        }
    }
}

/* The address for which the file was linked. */
static uint64_t address_of(const image *i, unsigned long offset)
{
    const Elf64_Phdr *header = NULL;
    for (unsigned n = 0; (header = header_of(i, n)) != NULL; n++) {
        if (header->p_type == PT_LOAD && offset >= header->p_offset &&
            offset - header->p_offset < header->p_filesz) {
            return offset - header->p_offset + header->p_vaddr;
        }
    }
    return 0;
}

static void map_file(image *i)
{
    struct stat status;
    int fd = open(i->path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        void *data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data != MAP_FAILED) {
            i->data = data;
            i->size = (size_t)status.st_size;
        }
    }
    if (fd >= 0) {
        close(fd);
    }
}

static const image *image_of(const char *path)
{
    for (unsigned i = 0; i < image_count; i++) {
        if (strcmp(images[i].path, path) == 0) {
            return &images[i];
        }
    }
    if (image_count == IMAGES_MAX) {
        return NULL;
    }
    image *i = &images[image_count++];
    i->path = strdup(path);
    const char *slash = strrchr(i->path, '/');
    i->name = slash != NULL ? slash + 1 : i->path;
    i->kind = kind_of(i->name);
    map_file(i);
    find_table(i);
    return i;
}

/* ---- processes ---- */

/* "7f00-7f01 r-xp 00001000 08:01 123   /path" */
static void add_mapping(space *s, char *line)
{
    enum { FIELDS_BEFORE_PATH = 2 };
    char *at = line;
    uintptr_t from = strtoul(at, &at, 16);
    uintptr_t to = strtoul(at + 1, &at, 16);
    const char *rights = at + 1;
    if (strlen(rights) < sizeof "r-xp" || rights[2] != 'x') {
        return;
    }
    unsigned long offset = strtoul(rights + sizeof "r-xp", &at, 16);
    for (int i = 0; i < FIELDS_BEFORE_PATH; i++) {
        at += strspn(at, " ");
        at += strcspn(at, " \n");
    }
    at += strspn(at, " ");
    at[strcspn(at, "\n")] = '\0';
    if (!begins(at, "[vsyscall]")) {
        s->ranges[s->count++] = (range){from, to, offset, image_of(at)};
    }
}

static void read_mappings(space *s)
{
    char line[4096];
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)s->process);
    FILE *file = fopen(path, "re");
    s->count = 0;
    while (file != NULL && s->count < RANGES_MAX && fgets(line, sizeof line, file) != NULL) {
        add_mapping(s, line);
    }
    if (file != NULL) {
        fclose(file);
    }
}

static space *space_of(pid_t process)
{
    space *free_one = &spaces[0];
    for (unsigned i = 0; i < SPACES_MAX; i++) {
        if (spaces[i].process == process) {
            return &spaces[i];
        }
        if (spaces[i].process == 0) {
            free_one = &spaces[i];
        }
    }
    free_one->process = process;
    read_mappings(free_one);
    return free_one;
}

void images_forget(pid_t process)
{
    for (unsigned i = 0; i < SPACES_MAX; i++) {
        if (spaces[i].process == process) {
            spaces[i].process = 0;
        }
    }
}

/* The kernel lists mappings by address. */
static const range *range_of(const space *s, uintptr_t address)
{
    unsigned from = 0;
    unsigned to = s->count;
    while (from < to) {
        unsigned middle = (from + to) / 2;
        if (address >= s->ranges[middle].to) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from < s->count && address >= s->ranges[from].from ? &s->ranges[from] : NULL;
}

/* ---- calls ---- */

/* The address in the file of the word by which the code before `offset` calls, if it is in the table; or 0. */
static uint64_t slot_of_call(const image *i, unsigned long offset)
{
    uint64_t slot = machine_word_of_call(i->data, i->data + offset, address_of(i, offset));
    return slot >= i->table_from && slot < i->table_to ? slot : 0;
}

code_place images_find(pid_t process, uintptr_t address, bool look_again)
{
    code_place found = {.kind = CODE_NONE};
    space *s = space_of(process);
    const range *r = range_of(s, address);
    if (r == NULL && look_again) {
        read_mappings(s);
        r = range_of(s, address);
    }
    if (r == NULL) {
        return found;
    }
    found.kind = r->image != NULL ? r->image->kind : CODE_PROGRAM;
    found.file = r->image != NULL ? r->image->name : "?";
    found.offset = address - r->from + r->offset;
    if (r->image == NULL || r->image->data == NULL) {
        found.after_call = true; /* generated code */
    } else if (found.offset >= PP_CALL_BYTES && found.offset <= r->image->size) {
        found.after_call = pp_ends_with_call(r->image->data + found.offset - PP_CALL_BYTES);
        uint64_t slot = found.after_call ? slot_of_call(r->image, found.offset) : 0;
        found.table_slot = slot != 0 ? address - address_of(r->image, found.offset) + slot : 0;
    }
    return found;
}
