/* SPDX-License-Identifier: MIT
 *
 * terminal.h: whether a stream is a terminal that shows colours, and the few colours.
 */
#ifndef CP_TERMINAL_H
#define CP_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

typedef enum cp_color_when { CP_COLOR_AUTO, CP_COLOR_ALWAYS, CP_COLOR_NEVER } cp_color_when;

#define CP_COLOR_WORDS "auto always never"

/* The meaning of one of these words; NULL means auto. */
cp_color_when cp_color_named(const char *word);

/* Whether to print colours. CP_COLOR_AUTO: if the descriptor is a terminal, TERM is not "dumb", and
 * NO_COLOR is empty or not set. */
bool cp_color_wanted(cp_color_when when, int fd);

/* Whether the descriptor is a terminal that can move its cursor. */
bool cp_terminal_is_capable(int fd);

typedef enum cp_paint {
    CP_PAINT_NONE,
    CP_PAINT_HEADING, /* bold */
    CP_PAINT_MUCH,    /* red: a large share, or growth */
    CP_PAINT_LITTLE,  /* dim: a small share */
    CP_PAINT_LESS     /* green: something that shrank */
} cp_paint;

/* The sequences before and after what is painted; empty without `colored` and for CP_PAINT_NONE. */
const char *cp_paint_begin(cp_paint paint, bool colored);
const char *cp_paint_end(cp_paint paint, bool colored);

#endif
