/* SPDX-License-Identifier: MIT
 *
 * binutils.h: runs programs of binutils, objdump and c++filt, and reads what they print.
 *
 * docs/DECISIONS.md has the reason for a process in the place of a library.
 */
#ifndef CP_BINUTILS_H
#define CP_BINUTILS_H

#include <stddef.h>
#include <stdint.h>

typedef struct cp_error cp_error;

/* A line without its line break. It is valid during the call. */
typedef void cp_binutils_line(void *context, char *line);

/* What a process may use; 0: any amount. */
typedef struct cp_binutils_limits {
    unsigned cpu_seconds;
    size_t memory_bytes;
} cp_binutils_limits;

/* Runs arguments[0] and calls found() for each whole line that it prints. Returns 0, -EIO if the
 * program failed or exceeded a limit, or why it did not start: -ENOENT if it is not installed. */
int cp_binutils_run(char *const *arguments, cp_binutils_limits limits, cp_binutils_line *found,
                    void *context);

typedef void cp_instruction_found(void *context, uint64_t address, const char *text);

/* Calls found() for each instruction in [start, stop), which are addresses in the file. The text is
 * valid during the call. Returns 0, or -1 with a sentence. */
int cp_disassemble(const char *path, uint64_t start, uint64_t stop, cp_instruction_found *found,
                   void *context, cp_error *error);

#endif
