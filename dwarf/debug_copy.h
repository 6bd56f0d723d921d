/* SPDX-License-Identifier: MIT
 *
 * debug_copy.h: the debug information of a file in memory of our own, for libdw to read.
 *
 * libdw would map the file. If somebody truncates it meanwhile, a page of it that is touched raises
 * SIGBUS, which ends the program that we are a guest of. So the sections that lines are found by
 * are read, and put together to an ELF file that has no others:
 *
 *   [Ehdr][Shdr...][.debug_info][.debug_line]... [.shstrtab]
 *
 * Headers of the sections that are left out stay, as those of sections without contents: numbers do
 * not change.
 *
 * Owns: its memory, which is mapped and not allocated: it is large.
 */
#ifndef PP_DWARF_DEBUG_COPY_H
#define PP_DWARF_DEBUG_COPY_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>

/* A program would rather be shown names than have this much read into it. */
#define PP_DEBUG_COPY_MAX ((size_t)1 << 30)

typedef struct pp_debug_copy {
    Elf *elf; /* NULL = none */
    void *memory;
    size_t bytes;
} pp_debug_copy;

/* Whether the file says something of lines: sections of that name that have contents. */
bool pp_debug_copy_has_lines(Elf *file);

/*
 * Makes a copy from `file`, which was opened on the descriptor `fd`. 0; -ENOENT if there is no
 * debug information, -EFBIG if there is more than PP_DEBUG_COPY_MAX of it, uncompressed; -ENOEXEC
 * if it is no ELF64 file of this byte order, or a damaged one; -ENOMEM; -EIO if it could not be
 * read, or -errno of that.
 */
int pp_debug_copy_make(Elf *file, int fd, pp_debug_copy *copy);

void pp_debug_copy_release(pp_debug_copy *copy);

#endif
