/* SPDX-License-Identifier: MIT
 *
 * debug_copy.h: a copy of a file's debug information in memory, for libdw.
 *
 * libdw would map the file. If the file is truncated meanwhile, access to a page of it raises
 * SIGBUS, which ends the host program. So the sections that libdw needs for lines are read, and put
 * together to an ELF file with only these:
 *
 *   [Ehdr][Shdr...][.debug_info][.debug_line]... [.shstrtab]
 *
 * The headers of the other sections stay, without contents, so that section numbers do not change.
 *
 * Owns: the memory of a copy. It is mapped and not allocated, because it is large.
 */
#ifndef PP_DWARF_DEBUG_COPY_H
#define PP_DWARF_DEBUG_COPY_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Names without lines are better than a host program that grows by this much; cpprof has a bound of
 * its own. */
#define PP_DEBUG_COPY_MAX (UINT64_C(1) << 30)

typedef struct pp_debug_copy {
    Elf *elf; /* NULL: there is no copy */
    void *memory;
    size_t bytes;
} pp_debug_copy;

/* Whether the file has lines: its .debug_info and .debug_line have contents. */
bool pp_debug_copy_has_lines(Elf *file);

/*
 * Makes a copy from `file`, which was opened on the descriptor `fd`. Returns 0; -ENOENT if there is
 * no debug information; -EFBIG if there is more than `most_bytes` of it (0: PP_DEBUG_COPY_MAX), uncompressed;
 * -ENOEXEC if the file is no ELF64 file of this byte order, or is damaged; -ENOMEM; or the error of
 * reading.
 */
int pp_debug_copy_make(Elf *file, int fd, uint64_t most_bytes, pp_debug_copy *copy);

void pp_debug_copy_release(pp_debug_copy *copy);

#endif
