/* SPDX-License-Identifier: MIT
 *
 * maps.h: reads /proc/self/maps without stdio.
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
    bool readable, writable, executable;
    bool shared;      /* with MAP_SHARED */
    const char *path; /* points into the text, NUL-terminated; "" for anonymous memory */
} pp_map_line;

/* Reads the whole text of /proc/self/maps, NUL-terminated. 0 or -errno. */
int pp_maps_text(pp_arena *arena, char **text, size_t *length);

/* pp_maps_text_of() reads that of another process, from `path` (/proc/PID/maps). */
int pp_maps_text_of(const char *path, pp_arena *arena, char **text, size_t *length);

/* pp_maps_text_if_any() reads the same text for a caller that can do without: "" if there is no
 * /proc, or no descriptor is free. 0 or -ENOMEM. */
int pp_maps_text_if_any(pp_arena *arena, const char **text, size_t *length);

/* Parses the line at *text and moves *text to the next one; a NUL overwrites the newline. Skips
 * malformed lines. False at the end of the text. */
bool pp_maps_next(char **text, pp_map_line *line);

#endif
