/* SPDX-License-Identifier: MIT
 *
 * live_screen.h: what a terminal of some size shows of the tables of `cpprof top -p`: from lines of
 * text to the bytes that draw them.
 *
 *   +--------------------------------+
 *   | the process, its load          |  head
 *   | headings                       |
 *   | row 3                          |  body, from a row on that the user has scrolled to
 *   | row 4                          |
 *   | keys, or what is being typed   |  foot
 *   +--------------------------------+
 *
 * Lines may have the sequences of colours that report_text.h writes. Nothing else that a terminal
 * obeys gets through: the names are the process's.
 */
#ifndef CP_LIVE_SCREEN_H
#define CP_LIVE_SCREEN_H

#include <stddef.h>

typedef struct cp_bytes cp_bytes;

typedef struct cp_live_size {
    unsigned rows, columns;
} cp_live_size;

/* The texts have a line break after each line. */
typedef struct cp_live_frame {
    const char *head, *body, *foot;
} cp_live_frame;

/* The columns of a terminal that the character of UTF-8 takes: 0 for one that is drawn on the one before,
 * 2 for those of East Asia and for pictures, else 1. The C library's wcwidth() knows it only in a
 * locale of UTF-8, which a session by ssh or in a container often lacks. */
unsigned cp_columns_of(const char *character, size_t bytes);

/* Appends a line in at most that many columns; what does not fit ends in an ellipsis. Returns the
 * columns that it takes. */
unsigned cp_live_clip(const char *line, size_t length, unsigned columns, cp_bytes *out);

/* The number of lines of a text. */
size_t cp_live_lines(const char *text);

/* The number of lines of the body that the screen has room for. */
size_t cp_live_room(const cp_live_frame *frame, cp_live_size size);

/* Appends what draws the frame over whatever the terminal shows. The body begins with line `first`.
 * Of a screen that is too small, the foot has the last row, unless there is only one. */
void cp_live_paint(const cp_live_frame *frame, cp_live_size size, size_t first, cp_bytes *out);

/* Appends the frame as plain lines, without the foot. */
void cp_live_print(const cp_live_frame *frame, size_t first, size_t count, cp_bytes *out);

#endif
