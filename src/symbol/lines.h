/* SPDX-License-Identifier: MIT
 *
 * lines.h: finds files, lines and inlined functions of addresses, if there is a source of lines.
 *
 * A plugin that is loaded on demand reads debug information (src/output/line_plugin.h). Code that
 * names addresses also serves the fatal-signal writer, which must not load anything. So the plugin
 * registers here, and is removed before the fatal-signal writer begins. Without a source, no
 * address has lines.
 *
 * Zone: NORMAL, and the fatal-signal writer, which has no source.
 * Owns: the pointer to the source.
 */
#ifndef PP_SYMBOL_LINES_H
#define PP_SYMBOL_LINES_H

#include "base/arena.h"
#include "elf/mapping.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A function and a place in its source. */
typedef struct pp_line {
    const char *function; /* the linkage name (mangled), else the plain name; NULL = unknown */
    const char *file;
    uint32_t line;       /* 0 = compiled from no line of the source */
    uint32_t start_line; /* of the declaration, in that file; 0 = unknown, or in another file */
} pp_line;

/* All functions at one address. The last one is the function that the machine calls; each earlier
 * one was inlined into its successor. */
typedef struct pp_lines {
    pp_line *line;   /* innermost first */
    uint32_t count;  /* 0 = unknown */
    uintptr_t entry; /* run-time address of the last function's first instruction */
} pp_lines;

/*
 * Finds the lines of `count` ascending addresses (of instructions) in `mapping`. lines[i], which is
 * all 0 before, belongs to addresses[i] and stays 0 if nothing is found; arrays and texts are in
 * `arena`. True if the finder has read all the debug information of the mapping's file: no other
 * finder can find more.
 */
typedef bool pp_lines_finder(const pp_mapping *mapping, const uintptr_t *addresses, size_t count,
                             pp_lines *lines, pp_arena *arena);

/* A source of lines. */
typedef struct pp_lines_source {
    bool (*begin)(void); /* called for each profile: whether this thread can have lines now */
    pp_lines_finder *find;
} pp_lines_source;

/* Sets the source for later calls; NULL = none. */
void pp_lines_set_source(const pp_lines_source *source);

/* Returns the finder of one profile, for the calling thread; NULL: there are no lines. */
pp_lines_finder *pp_lines_begin(void);

#endif
