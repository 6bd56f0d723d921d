/* SPDX-License-Identifier: MIT
 *
 * location_names.h: the mapping, the function and the lines of every location, found for all of
 * them at once.
 *
 * Locations and mappings are sorted by address and walked side by side, so that each mapping's
 * symbol table is read once, for those of its addresses that occur. Where lines are known, too, the
 * function that the machine calls keeps the name of the symbol table: a profile with lines and one
 * without agree on it.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: nothing: its memory goes with the arena.
 */
#ifndef PP_ENCODE_LOCATION_NAMES_H
#define PP_ENCODE_LOCATION_NAMES_H

#include "encode/location_table.h"
#include "profile/model.h"
#include "symbol/lines.h"
#include "symbol/places.h"

typedef struct pp_location_names {
    uint32_t *ascending; /* indices of the locations, by address */
    pp_symbol *symbols;  /* of the location with the same index; without a name: unknown */
    /* The names for people, of the symbols and of each line's function (NULL: no lines). Both are
     * NULL until pp_location_names_make_readable(). */
    const char **readable;
    const char ***readable_lines;
    pp_lines *lines; /* likewise; all 0 unless profile->symbolize is LINES */
    bool *
        has_lines; /* of each mapping: all lines that can be known of its locations are, at least one */
    uint32_t unknown_id; /* of the mapping for code outside of the list; 0 = not needed */
} pp_location_names;

/*
 * Places the locations of `table` in the profile's mappings (sets location.mapping: index + 1) and,
 * unless profile->symbolize is NONE, names them; finds their lines if it is LINES. 0 or -ENOMEM.
 */
int pp_location_names_find(const pp_profile *profile, pp_location_table *table, pp_arena *arena,
                           pp_location_names *names);

/* Fills in the readable names of `count` locations, for texts. 0 or -ENOMEM. */
int pp_location_names_make_readable(pp_location_names *names, uint32_t count, pp_arena *arena);

#endif
