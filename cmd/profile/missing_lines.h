/* SPDX-License-Identifier: MIT
 *
 * missing_lines.h: says which files lack lines, and which package or flag would bring them.
 */
#ifndef CP_MISSING_LINES_H
#define CP_MISSING_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cp_profile cp_profile;

/* Why a mapping lacks lines, or names. */
typedef struct cp_missing {
    const char *file;
    const char *build_id; /* in hexadecimal digits, or "" */
    uint32_t locations;   /* how many lack them */
    int error;            /* of cp_line_reader_find() */
    bool is_asked_for;    /* it may have functions that the user asks for */
    bool is_of_names;     /* it is names that the locations lack */
} cp_missing;

/* Complains of the files with the most locations without lines or names, at most once in the life of
 * the program. Sorts the array. */
void cp_missing_complain(cp_missing *missing, size_t count);

/* Says why nobody can look for lines: what a profile lacks that has none, such as a text of names.
 * Says nothing of a profile in which a location has a line. */
void cp_missing_explain(const cp_profile *profile);

#endif
