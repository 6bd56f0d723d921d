/* SPDX-License-Identifier: MIT
 *
 * split_file.h: files with the split units of a program (-gsplit-dwarf): NAME.dwo, one for each
 * compiled file, or PROGRAM.dwp, in which a linker (dwp, llvm-dwp) has put all of them together.
 *
 *   .dwp   [.debug_cu_index: id -> part of .debug_info.dwo, of .debug_abbrev.dwo, ...]
 *          [.debug_info.dwo: unit, unit...] [.debug_abbrev.dwo: ...] ...
 *
 * Sections are read into memory, and uncompressed.
 *
 * Owns: the contents of the sections, until release.
 * Tested by: e2e.lines_split
 */
#ifndef PP_DWARF_SPLIT_FILE_H
#define PP_DWARF_SPLIT_FILE_H

#include "dwarf/bytes_reader.h"

#include "pprof_dwarf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum pp_split_section {
    PP_SPLIT_INFO,
    PP_SPLIT_ABBREV,
    PP_SPLIT_STR,
    PP_SPLIT_STR_OFFSETS,
    PP_SPLIT_RNGLISTS,
    PP_SPLIT_INDEX,
    PP_SPLIT_SECTIONS
} pp_split_section;

typedef struct pp_split_file {
    pp_bytes section[PP_SPLIT_SECTIONS]; /* of size 0: it has none */
} pp_split_file;

/* Opens a file. Returns 0; -ENOENT if there is none; -EFBIG if its sections have more than
 * `most_bytes`; -ENOEXEC if it is no such file; -ENOMEM; or the error of reading. */
int pp_split_file_open(const pprof_dwarf_host *host, const char *path, uint64_t most_bytes,
                       pp_split_file *file);

void pp_split_file_release(pp_split_file *file);

/* Stores the parts that belong to the unit with that id, also if the file has no index. False if
 * the index does not have it. */
bool pp_split_file_find(const pp_split_file *file, uint64_t id, pp_bytes parts[PP_SPLIT_SECTIONS]);

#endif
