/* SPDX-License-Identifier: MIT
 *
 * elf.h: an ELF64 file, an image in memory, or what the loader has mapped of a file, read with a
 * bound on everything.
 *
 * What is read may be truncated, corrupt, or being overwritten: every offset and size is checked,
 * and every structure is copied out before it is looked at. Files are read with pread() and not
 * mapped, because a mapped file that somebody truncates meanwhile raises SIGBUS in the host. The
 * kernel copies what the loader has mapped, since the program may unload it meanwhile.
 *
 *   [Ehdr][Phdr...] ... [section: symbols][section: their names] ... [Shdr...]
 *
 * Zone: NORMAL, and the fatal-signal writer (open, fstat, pread, close and process_vm_readv only).
 * Locks: none; an object belongs to one thread at a time.
 * Owns: the descriptor of a file, until pp_elf_close().
 */
#ifndef PP_SYMBOL_ELF_H
#define PP_SYMBOL_ELF_H

#include "modules/mapping.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_elf {
    int fd;               /* -1: it is read from memory */
    const uint8_t *image; /* NULL: a file, or what the loader has mapped */
    bool is_loaded;       /* the latter: offsets in the file are run-time addresses */
    uintptr_t bias;       /* of what is loaded */
    uint64_t size;
    Elf64_Ehdr header;
    uint64_t section_count; /* 0 also when the file has no usable section headers */
} pp_elf;

/* Where a symbol table and its names lie. */
typedef struct pp_elf_symbols {
    uint64_t offset; /* of the first Elf64_Sym in the file */
    uint64_t count;
    uint64_t names_offset;
    uint64_t names_size;
} pp_elf_symbols;

/* Opens a regular file. Returns 0, -errno of the system call, or -ENOEXEC if it is no ELF64 file of
 * this machine's byte order. */
int pp_elf_open(pp_elf *elf, const char *path);

/* The same for `size` readable bytes at `image`, which must stay until pp_elf_close(). */
int pp_elf_open_image(pp_elf *elf, const void *image, size_t size);

/*
 * What the loader has mapped of a file: `header` is where its first byte is said to be, `bias` its
 * load bias. Nothing there is trusted, nor need it stay. It has no section headers, and wherever an
 * offset in the file is meant, here and in what the functions below return, it is a run-time
 * address: the segments lie apart, and the dynamic table leads to wherever the loader looks.
 * Returns 0, or -ENOEXEC if there is no such thing.
 */
int pp_elf_open_loaded(pp_elf *elf, uintptr_t header, uintptr_t bias);

/* Opens the separate debug file ROOT/.build-id/xx/yyyy.debug (`root`: "/usr/lib/debug") and checks
 * that it has that build id itself. Returns as pp_elf_open() does; -ENOENT if the id differs. */
int pp_elf_open_debug(pp_elf *elf, const char *root, const uint8_t *build_id,
                      uint8_t build_id_size);

void pp_elf_close(pp_elf *elf);

/* Copies `size` bytes from `offset`; false if they are not all there. */
bool pp_elf_read(const pp_elf *elf, uint64_t offset, void *to, size_t size);

/* Copies as much of [offset, offset + size) as there is, and returns how much that is. */
size_t pp_elf_read_some(const pp_elf *elf, uint64_t offset, void *to, size_t size);

/* The build id in the PT_NOTE segments, else in the SHT_NOTE sections (debug files keep only those
 * in order). Stored as by pp_note_build_id(); false if there is none. */
bool pp_elf_file_build_id(const pp_elf *elf, uint8_t build_id[PP_BUILD_ID_MAX],
                          uint8_t *build_id_size);

/* The first symbol table of `type` (SHT_SYMTAB or SHT_DYNSYM) that is not empty; false if none. */
bool pp_elf_symbols_by_section(const pp_elf *elf, uint32_t type, pp_elf_symbols *symbols);

/* The dynamic symbols as the loader finds them, by PT_DYNAMIC: for images without
 * section headers. */
bool pp_elf_symbols_by_dynamic(const pp_elf *elf, pp_elf_symbols *symbols);

/* The tables of relocations that the loader works through, by PT_DYNAMIC. */
typedef struct pp_elf_relocations {
    struct {
        uint64_t offset; /* of the first Elf64_Rela in the file */
        uint64_t count;
    } part[2]; /* DT_JMPREL; DT_RELA without the relative ones at its beginning */
} pp_elf_relocations;

/* False if there are none. */
bool pp_elf_relocations_find(const pp_elf *elf, pp_elf_relocations *relocations);

/* A section of stubs (.plt, .plt.sec, .plt.got). */
typedef struct pp_elf_stubs {
    uint64_t start, limit; /* link-time addresses */
    uint64_t offset;       /* of `start` in the file */
    uint64_t entry_size;   /* as the section header has it: 0 = not said */
} pp_elf_stubs;

/* The first such section from number *index on, after which *index is left; false if there
 * is none. */
bool pp_elf_stubs_next(const pp_elf *elf, uint64_t *index, pp_elf_stubs *stubs);

/* The segment PT_GNU_EH_FRAME: its link-time address, and where it lies in the file. */
bool pp_elf_frame_header(const pp_elf *elf, uint64_t *address, uint64_t *offset, uint64_t *size);

/* The file offset of a link-time address, by the PT_LOAD segments. */
bool pp_elf_offset(const pp_elf *elf, uint64_t address, uint64_t *offset);

/* The PT_LOAD segment whose bytes in the file hold the link-time address. */
bool pp_elf_segment_of(const pp_elf *elf, uint64_t address, Elf64_Phdr *found);

/* The link-time address of the file's first byte; false if no segment holds it. */
bool pp_elf_first_address(const pp_elf *elf, uint64_t *address);

/* The address range that section `index` has in the file's own addresses; false if none. */
bool pp_elf_section_range(const pp_elf *elf, uint16_t index, uint64_t *start, uint64_t *limit);

#endif
