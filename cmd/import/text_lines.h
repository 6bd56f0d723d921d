/* SPDX-License-Identifier: MIT
 *
 * text_lines.h: the lines of a text that is a profile.
 *
 * Owns: the current line, until cp_lines_release().
 */
#ifndef CP_TEXT_LINES_H
#define CP_TEXT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cp_error cp_error;

typedef struct cp_lines {
    const char *data, *at, *end;
    char *line;    /* the current one, without white space around it */
    size_t length; /* of the line */
    size_t offset; /* of its first byte in the text */
    size_t number; /* of the line, from 1 */
    bool indented; /* white space came before it */
    size_t capacity;
} cp_lines;

void cp_lines_init(cp_lines *lines, const uint8_t *data, size_t length);
void cp_lines_release(cp_lines *lines);

/* Goes to the next line; false at the end. */
bool cp_lines_next(cp_lines *lines);
/* Goes to the next line that is not empty. */
bool cp_lines_next_text(cp_lines *lines);

/* Complains of the current line: "byte OFFSET: line NUMBER: expected ..., found '...'". Always
 * returns -1. */
int cp_lines_fail(const cp_lines *lines, const char *expected, cp_error *error);

#endif
