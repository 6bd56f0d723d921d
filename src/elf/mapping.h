/* SPDX-License-Identifier: MIT
 *
 * mapping.h: one executable range of the address space, which becomes a Mapping of a profile.
 *
 * The module table (loaded objects) and the maps reader (code without a file) fill it; symbol/ and
 * the encoders read it. Plain data: no function here.
 *
 * Zone: SIGNAL (data).
 */
#ifndef PP_ELF_MAPPING_H
#define PP_ELF_MAPPING_H

#include "sys/safe_read.h"

#include <stdbool.h>
#include <stdint.h>

#define PP_BUILD_ID_MAX 32

/* The owner of the code; a fully static program is its own libc and loader. */
enum { PP_CODE_OF_PROGRAM = 1, PP_CODE_OF_LIBC = 2, PP_CODE_OF_LOADER = 4 };

typedef struct pp_mapping {
    uintptr_t start;              /* first address, page-aligned */
    uintptr_t limit;              /* one past the last address, page-aligned */
    uint64_t offset;              /* of `start` in the file */
    uintptr_t bias;               /* load bias: run-time address minus the ELF file's own p_vaddr */
    const pp_memory *memory;      /* where it is mapped; NULL: in this process */
    const struct pp_files *files; /* of the same process; NULL: of this one (sys/own_files.h) */
    const char *path;             /* absolute; "[vdso]"; "" for code without a file (JIT) */
    uint8_t build_id[PP_BUILD_ID_MAX];
    uint8_t build_id_size; /* bytes used; 0 = the file has none */
    uint8_t code_of;       /* PP_CODE_OF_...; 0 = any other owner */
    bool in_memory;        /* [vdso]: no file; the ELF image is at bias + p_vaddr */
} pp_mapping;

#endif
