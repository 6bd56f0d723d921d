/* SPDX-License-Identifier: MIT
 *
 * source_file.h: the lines of a source file.
 *
 * A profile has the path on the machine where the program was compiled. A path that begins with /
 * has to exist as it is, unless it goes through a folder with the name of one to search in: then
 * only what comes after that folder counts. Any other path is looked for in each folder to search
 * in, and in all folders above it.
 *
 * Owns: the text, until cp_source_close().
 */
#ifndef CP_SOURCE_FILE_H
#define CP_SOURCE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

typedef struct cp_error cp_error;

typedef struct cp_source {
    char *text;
    size_t length;
    size_t *lines; /* where each line begins, and the end */
    int64_t count;
    struct stat info;
} cp_source;

/* Where to look for source files. Both texts are folders, with colons between them. */
typedef struct cp_source_search {
    const char *folders; /* to search in; NULL: none */
    const char *trim; /* folders that are cut off paths; NULL: those before a folder to search in */
} cp_source_search;

/* The part of a path that is looked for, which is an end of it. */
const char *cp_source_trim(const char *path, const cp_source_search *search);

/* Opens a file. Returns 0, or -1 with a sentence. */
int cp_source_open(cp_source *source, const char *path, const cp_source_search *search,
                   cp_error *error);
void cp_source_close(cp_source *source);

/* Line `number`, from 1, without its end. Returns false if there is none. */
bool cp_source_line(const cp_source *source, int64_t number, const char **text, size_t *length);

#endif
