/* SPDX-License-Identifier: MIT
 *
 * code_instructions.h: reads the instructions of functions from a file of this machine's architecture.
 *
 * Owns: the open file, between cp_code_read_begin() and cp_code_read_end().
 */
#ifndef CP_CODE_INSTRUCTIONS_H
#define CP_CODE_INSTRUCTIONS_H

#include "convert/code_flow.h"

/* A file that is mapped from `offset` at `start`. */
typedef struct cp_code_file {
    const char *name;
    uint64_t start, offset;
    int fd;
} cp_code_file;

/* Returns 0, or -1: there is no such file, or it is of another architecture. End it in any case. */
int cp_code_read_begin(cp_code_file *file);
void cp_code_read_end(cp_code_file *file);

/* Adds a function, from its entry to the limit. Returns 0, or -1: it cannot be read. */
int cp_code_read(const cp_code_file *file, uint64_t entry, uint64_t limit, cp_flow *flow);

#endif
