/* SPDX-License-Identifier: MIT
 *
 * build_id.h: the identity that the linker gave to an ELF object, from its notes.
 *
 * It ties a mapping of a profile to the one file that it came from: readers look symbols up by it,
 * and we refuse a file that has been replaced since it was loaded.
 *
 *   note   [name size][type][desc size] "GNU\0" [build id]      each part padded to the alignment
 *
 * Zone: SIGNAL.
 */
#ifndef PP_MODULES_BUILD_ID_H
#define PP_MODULES_BUILD_ID_H

#include "modules/mapping.h"

#include <link.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Looks for the build id among `size` bytes of notes, which may be anything. `alignment` is that of
 * their segment (8, or else 4). Stores up to PP_BUILD_ID_MAX bytes in `build_id` and how many in
 * `build_id_size`. Returns 0, or -ENOENT if there is none.
 */
int pp_note_build_id(const void *notes, size_t size, size_t alignment,
                     uint8_t build_id[PP_BUILD_ID_MAX], uint8_t *build_id_size);

/*
 * The build id of a loaded object: `headers` and `header_count` are its program headers
 * (dl_phdr_info.dlpi_phdr, dlpi_phnum), `bias` its load bias (dlpi_addr). Only notes that a
 * readable PT_LOAD segment covers are looked at. The object must stay loaded meanwhile. Returns and
 * stores as pp_note_build_id() does.
 */
int pp_elf_build_id(const ElfW(Phdr) * headers, size_t header_count, uintptr_t bias,
                    uint8_t build_id[PP_BUILD_ID_MAX], uint8_t *build_id_size);

#endif
