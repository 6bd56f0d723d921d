/* SPDX-License-Identifier: MIT
 *
 * out_file.h: a file that appears under its name only when it is whole.
 *
 * The bytes go to a temporary file beside it, which is renamed at the end. If the path exists and
 * is no regular file (a pipe, /dev/stdout), it is written in place; "-" is standard output. A
 * symbolic link stays a link. A new file has the mode that the umask leaves, as from any command's
 * -o; a file that is replaced keeps its own.
 *
 *   if (cp_out_open(&out, path, error) == 0) {
 *       fputs("...", out.file);
 *       status = cp_out_close(&out, error);      or cp_out_abandon(&out);
 *   }
 *
 * Owns: the open file and the temporary one, until one of the two calls.
 */
#ifndef CP_OUT_FILE_H
#define CP_OUT_FILE_H

#include <stdio.h>

typedef struct cp_error cp_error;

typedef struct cp_out_file {
    FILE *file;
    const char *path; /* the caller's */
    char *target;     /* where the temporary file goes; NULL: written in place */
    char *temporary;
    int status; /* -errno of cp_out_write() */
} cp_out_file;

/* Checks that a file which is no text does not go to a terminal: that the path is not "-" while
 * standard output is one. Returns 0, or -1 with a sentence. */
int cp_out_check_binary(const char *path, cp_error *error);

/* Returns 0, or -1 with a sentence that begins with the path. */
int cp_out_open(cp_out_file *out, const char *path, cp_error *error);

/* Writes bytes to out->file, and remembers why that failed. */
void cp_out_write(cp_out_file *out, const void *data, size_t length);

/* Writes the rest, and gives the file its name. Returns 0, or -1 with a sentence; then there is no
 * new file. */
int cp_out_close(cp_out_file *out, cp_error *error);

/* Leaves no file. */
void cp_out_abandon(cp_out_file *out);

#endif
