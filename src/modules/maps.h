/* SPDX-License-Identifier: MIT
 *
 * maps.h: /proc/self/maps, read without stdio.
 *
 * Zone: NORMAL, and the fatal-signal writer (open, read and close only).
 */
#ifndef PP_MODULES_MAPS_H
#define PP_MODULES_MAPS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_map_line {
    uintptr_t start, limit;
    uint64_t offset;
    bool executable;
    const char *path; /* into the text, NUL-terminated; "" for anonymous memory */
} pp_map_line;

/* The whole text of /proc/self/maps, NUL-terminated. 0 or -errno. */
int pp_maps_text(pp_arena *arena, char **text, size_t *length);

/* The same for those that do without if they have to: "" where no descriptor is left, or no /proc
 * there. 0 or -ENOMEM. */
int pp_maps_text_if_any(pp_arena *arena, const char **text, size_t *length);

/*
 * Parses the line at *text and moves *text to the next one; the newline is overwritten with a NUL.
 * False at the end of the text. Lines that are not of the format are skipped.
 */
bool pp_maps_next(char **text, pp_map_line *line);

#endif
