/* SPDX-License-Identifier: MIT
 *
 * build_id.h: reads the build id of an ELF object, which the linker has computed, from its notes.
 *
 * The build id ties a mapping of a profile to one file: readers find symbols by it, and libpprof
 * rejects a file that was replaced since the process loaded it.
 *
 *   note   [name size][type][desc size] "GNU\0" [build id]      each part padded to the alignment
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ELF_BUILD_ID_H
#define PP_ELF_BUILD_ID_H

#include "elf/mapping.h"

#include <link.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Finds the build id in `size` bytes of notes, which may hold anything. `alignment` is that of
 * their segment (8, or else 4). Stores up to PP_BUILD_ID_MAX bytes in `build_id` and their number
 * in `build_id_size`. Returns 0, or -ENOENT if there is no build id.
 */
int pp_note_build_id(const void *notes, size_t size, size_t alignment,
                     uint8_t build_id[PP_BUILD_ID_MAX], uint8_t *build_id_size);

/*
 * Finds the build id of a loaded object. `headers` and `header_count` are its program headers
 * (dl_phdr_info.dlpi_phdr, dlpi_phnum), `bias` its load bias (dlpi_addr). Reads only notes inside a
 * readable PT_LOAD segment. The object must stay loaded meanwhile. Returns and stores as
 * pp_note_build_id() does.
 */
int pp_elf_build_id(const ElfW(Phdr) * headers, size_t header_count, uintptr_t bias,
                    uint8_t build_id[PP_BUILD_ID_MAX], uint8_t *build_id_size);

#endif
