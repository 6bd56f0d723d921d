/* SPDX-License-Identifier: MIT
 *
 * elf.h: reads an ELF64 file, an image in memory, or the part of a file that the loader has mapped.
 *
 * The bytes may be truncated, corrupt, or changing: the reader checks every offset and size, and
 * copies every structure before it uses the structure. It reads files with pread() and does not map
 * them, because a mapped file that another process truncates raises SIGBUS in the host. For a
 * loaded object it lets the kernel copy, since the program may unload the object meanwhile.
 *
 *   [Ehdr][Phdr...] ... [section: symbols][section: their names] ... [Shdr...]
 *
 * Zone: NORMAL, and the fatal-signal writer (open, fstat, pread, close and process_vm_readv only).
 * Locks: none; an object belongs to one thread at a time.
 * Owns: the descriptor of a file, until pp_elf_close().
 */
#ifndef PP_ELF_ELF_H
#define PP_ELF_ELF_H

#include "elf/mapping.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_elf {
    int fd;               /* -1: in memory */
    const uint8_t *image; /* NULL: a file, or a loaded object */
    bool is_loaded;       /* a loaded object: offsets in the file are run-time addresses */
    uintptr_t bias;       /* of a loaded object */
    const struct pp_memory *memory; /* likewise: where it is; NULL: in this process */
    uint64_t size;
    Elf64_Ehdr header;
    uint64_t section_count; /* 0 also if the file has no usable section headers */
} pp_elf;

/* The places of a symbol table and of its names. */
typedef struct pp_elf_symbols {
    uint64_t offset; /* of the first Elf64_Sym in the file */
    uint64_t count;
    uint64_t names_offset;
    uint64_t names_size;
} pp_elf_symbols;

/* Opens a regular file of `files` (NULL: of this process). Returns 0, -errno of the system call, or -ENOEXEC if the file is no ELF64
 * file of this machine's byte order. */
int pp_elf_open(pp_elf *elf, const struct pp_files *files, const char *path);

/* Opens `size` readable bytes at `image`, which must stay until pp_elf_close(). */
int pp_elf_open_image(pp_elf *elf, const void *image, size_t size);

/*
 * Opens the part of a file that the loader has mapped, in `memory` (NULL: in this process). `header`
 * is the supposed address of its first byte, `bias` its load bias. Nothing there is trusted, and the program may unload it. Such
 * an object has no section headers. All its offsets, here and in the results of the functions
 * below, are run-time addresses: the segments are apart, and the dynamic table holds addresses of
 * any segment. Returns 0, or -ENOEXEC if no ELF header is there.
 */
int pp_elf_open_loaded(pp_elf *elf, const struct pp_memory *memory, uintptr_t header,
                       uintptr_t bias);

/* Opens the separate debug file ROOT/.build-id/xx/yyyy.debug (`root`: "/usr/lib/debug") and checks
 * the file's own build id. Returns as pp_elf_open() does; -ENOENT if the id differs. */
int pp_elf_open_debug(pp_elf *elf, const struct pp_files *files, const char *root,
                      const uint8_t *build_id, uint8_t build_id_size);

void pp_elf_close(pp_elf *elf);

/* How often, in any thread, something that exists could not be opened or read, or memory was
 * missing. If the number is another one after a search, the next one may find more. */
unsigned pp_elf_troubles(void);
void pp_elf_note_trouble(void);

/* Copies `size` bytes from `offset`; false if the file has fewer. */
bool pp_elf_read(const pp_elf *elf, uint64_t offset, void *to, size_t size);

/* Copies the existing bytes of [offset, offset + size), and returns their number. */
size_t pp_elf_read_some(const pp_elf *elf, uint64_t offset, void *to, size_t size);

/* Reads a program header, or a section header, as it is in the file; false if there is none of this
 * number. */
bool pp_elf_segment(const pp_elf *elf, unsigned index, Elf64_Phdr *segment);
bool pp_elf_section(const pp_elf *elf, uint64_t index, Elf64_Shdr *section);

/* Whether the section's name begins with the `length` bytes at `text`. A NUL among them ends it. */
bool pp_elf_section_begins(const pp_elf *elf, const Elf64_Shdr *section, const char *text,
                           size_t length);

/* Finds the build id in the PT_NOTE segments, else in the SHT_NOTE sections (in debug files only
 * these are in order). Stores as pp_note_build_id() does; false if there is none. */
bool pp_elf_file_build_id(const pp_elf *elf, uint8_t build_id[PP_BUILD_ID_MAX],
                          uint8_t *build_id_size);

/* Finds the first symbol table of `type` (SHT_SYMTAB or SHT_DYNSYM) that is not empty; false if
 * none. */
bool pp_elf_symbols_by_section(const pp_elf *elf, uint32_t type, pp_elf_symbols *symbols);

/* Finds the dynamic symbols as the loader does, by PT_DYNAMIC: for images without section
 * headers. */
bool pp_elf_symbols_by_dynamic(const pp_elf *elf, pp_elf_symbols *symbols);

/* The loader's tables of relocations, by PT_DYNAMIC. */
typedef struct pp_elf_relocations {
    struct {
        uint64_t offset; /* of the first Elf64_Rela in the file */
        uint64_t count;
    } part[2]; /* DT_JMPREL; DT_RELA without the relative relocations at its beginning */
} pp_elf_relocations;

/* False if the file has none. */
bool pp_elf_relocations_find(const pp_elf *elf, pp_elf_relocations *relocations);

/* A section of stubs (.plt, .plt.sec, .plt.got). */
typedef struct pp_elf_stubs {
    uint64_t start, limit; /* link-time addresses */
    uint64_t offset;       /* of `start` in the file */
    uint64_t entry_size;   /* of the section header; 0 = unknown */
} pp_elf_stubs;

/* Finds the first such section from number *index on, and advances *index past it; false if there
 * is none. */
bool pp_elf_stubs_next(const pp_elf *elf, uint64_t *index, pp_elf_stubs *stubs);

/* Finds the segment PT_GNU_EH_FRAME: its link-time address, and its place in the file. */
bool pp_elf_frame_header(const pp_elf *elf, uint64_t *address, uint64_t *offset, uint64_t *size);

/* Finds the PT_LOAD segment whose bytes in the file include the link-time address. */
bool pp_elf_segment_of(const pp_elf *elf, uint64_t address, Elf64_Phdr *found);

/* The link-time address of the file's first byte; false if no segment has this byte. */
bool pp_elf_first_address(const pp_elf *elf, uint64_t *address);

/* The link-time address range of section `index`; false if none. */
bool pp_elf_section_range(const pp_elf *elf, uint16_t index, uint64_t *start, uint64_t *limit);

#endif
