/* SPDX-License-Identifier: MIT
 *
 * units.h: a search for the compilation unit of an address.
 *
 * The ranges come from the units, not from .debug_aranges: clang does not write that section, and
 * linkers drop it.
 *
 *   parts   [lo, hi, unit][lo, hi, unit]...     ascending, of all units
 *
 * Owns: the arrays, until release.
 */
#ifndef PP_DWARF_UNITS_H
#define PP_DWARF_UNITS_H

#include "dwarf/debug_file.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_unit_part {
    Dwarf_Addr lo, hi;  /* [lo, hi) */
    Dwarf_Addr highest; /* the largest hi of this part and of all parts before it */
    uint32_t unit;
} pp_unit_part;

typedef struct pp_unit {
    Dwarf_Die die;
    bool split; /* another file (.dwo) describes its functions */
} pp_unit;

typedef struct pp_units {
    pp_unit *unit;
    pp_unit_part *part;
    size_t unit_count, unit_room;
    size_t part_count, part_room;
} pp_units;

enum { PP_UNIT_NONE = -1 };

/* Reads all units and sorts their parts. Returns 0 or -ENOMEM. */
int pp_units_read(const pp_debug_file *file, pp_units *units);

/* Returns the index of the unit with this address, or PP_UNIT_NONE. If several units have it, the
 * one whose part begins last. */
long pp_units_find(const pp_units *units, Dwarf_Addr address);

void pp_units_release(pp_units *units);

#endif
