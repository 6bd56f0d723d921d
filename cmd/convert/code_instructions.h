/* SPDX-License-Identifier: MIT
 *
 * code_instructions.h: reads the instructions of functions from a file of this machine's architecture.
 *
 * Owns: the open file, between cp_code_read_begin() and cp_code_read_end().
 */
#ifndef CP_CODE_INSTRUCTIONS_H
#define CP_CODE_INSTRUCTIONS_H

#include "convert/code_flow.h"

#include "src/elf/elf.h"

/* A file that is mapped from `offset` at `start`. */
typedef struct cp_code_file {
    const char *name, *build_id; /* in hexadecimal digits; "": it has none */
    uint64_t start, offset;
    pp_elf elf;
} cp_code_file;

/* Returns 0, or -1: there is no such file, or it is of another build, or architecture. End it if it was begun. */
int cp_code_read_begin(cp_code_file *file);
void cp_code_read_end(cp_code_file *file);

/* Adds a function, from its entry to the limit. Returns 0, or -1: it cannot be read. */
int cp_code_read(const cp_code_file *file, uint64_t entry, uint64_t limit, cp_flow *flow);

#endif
