/* SPDX-License-Identifier: MIT
 *
 * disassembler.h: the instructions of a part of a program, by binutils' objdump.
 */
#ifndef CP_DISASSEMBLER_H
#define CP_DISASSEMBLER_H

#include <stdint.h>

typedef struct cp_error cp_error;

typedef void cp_instruction_found(void *context, uint64_t address, const char *text);

/* Calls found() for each instruction in [start, stop), which are addresses in the file. The text is
 * valid during the call. Returns 0, or -1 with a sentence. */
int cp_disassemble(const char *path, uint64_t start, uint64_t stop, cp_instruction_found *found,
                   void *context, cp_error *error);

#endif
