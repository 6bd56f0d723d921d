/* SPDX-License-Identifier: MIT
 *
 * location_names.h: finds the mapping, the function and the lines of all locations at once.
 *
 * It sorts locations and mappings by address and walks them side by side, so that it reads each
 * mapping's symbol table once, and only for the addresses that occur. If lines are known, too, the
 * function that the machine calls keeps the name of the symbol table: so a profile with lines and
 * one without have the same name.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: nothing: its memory goes with the arena.
 */
#ifndef PP_ENCODE_LOCATION_NAMES_H
#define PP_ENCODE_LOCATION_NAMES_H

#include "encode/location_table.h"
#include "profile/model.h"
#include "symbol/lines.h"
#include "symbol/names.h"

typedef struct pp_location_names {
    uint32_t *ascending; /* indices of the locations, by address */
    pp_symbol *symbols;  /* of the location with the same index; no name: unknown */
    /* The demangled names of the symbols, and of each line's function (NULL: no lines). Both are
     * NULL until pp_location_names_demangle(). */
    const char **demangled;
    const char ***demangled_lines;
    pp_lines *lines;     /* by location; all 0 unless profile->symbolize is LINES */
    bool *has_lines;     /* by mapping: its debug information was read, and nothing left out */
    uint32_t unknown_id; /* of the mapping for code outside of the list; 0 = not needed */
} pp_location_names;

/* Finds the mapping of each location of `table` (sets location.mapping: index + 1) and, unless
 * profile->symbolize is NONE, its name; with LINES also its lines. 0 or -ENOMEM. */
int pp_location_names_find(const pp_profile *profile, pp_location_table *table, pp_arena *arena,
                           pp_location_names *names);

/* Makes the demangled names of `count` locations, for texts. 0 or -ENOMEM. */
int pp_location_names_demangle(pp_location_names *names, uint32_t count, pp_arena *arena);

#endif
