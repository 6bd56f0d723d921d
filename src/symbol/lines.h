/* SPDX-License-Identifier: MIT
 *
 * lines.h: files, lines and inlined functions of addresses, from whoever can find them.
 *
 * Debug information is read by a part that is loaded when it is wanted (src/output/line_plugin.h). What
 * names addresses also serves the writer of a fatal signal, which must not load anything: so that
 * part registers here, and is taken away before such a writer begins. Without it nothing has lines.
 *
 * Zone: NORMAL, and the fatal-signal writer, for which there is no source.
 * Owns: which source there is.
 */
#ifndef PP_SYMBOL_LINES_H
#define PP_SYMBOL_LINES_H

#include "base/arena.h"
#include "modules/mapping.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A function, and where in the source. */
typedef struct pp_line {
    const char
        *function; /* its linkage name (mangled), or its name if it has none; NULL = unknown */
    const char *file;
    uint32_t line; /* 0 = compiled from no line of the source */
    uint32_t
        start_line; /* where the function is declared in that file; 0 = unknown, or in another one */
} pp_line;

/* All that is at one address: the function that the machine calls is the last one, the ones before
 * it were inlined, each into its successor. */
typedef struct pp_lines {
    pp_line *line;   /* innermost first */
    uint32_t count;  /* 0 = unknown */
    uintptr_t entry; /* run-time address of the last one's first instruction */
} pp_lines;

/*
 * Finds the lines of `count` ascending addresses (of instructions) that lie in `mapping`. lines[i],
 * which is all 0 before, belongs to addresses[i]; arrays and texts are in `arena`. What cannot be
 * found is left as it is. True if debug information of the mapping's file was read, and nothing of
 * it was left out: nobody can find more.
 */
typedef bool pp_lines_finder(const pp_mapping *mapping, const uintptr_t *addresses, size_t count,
                             pp_lines *lines, pp_arena *arena);

/* Where lines come from. */
typedef struct pp_lines_source {
    bool (*begin)(void); /* for each profile: whether the calling thread can have lines now */
    pp_lines_finder *find;
} pp_lines_source;

/* Who is asked from now on; NULL = nobody. */
void pp_lines_set_source(const pp_lines_source *source);

/* The finder for one profile, to be used by the calling thread; NULL: there are no lines. */
pp_lines_finder *pp_lines_begin(void);

#endif
