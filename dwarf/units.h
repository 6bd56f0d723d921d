/* SPDX-License-Identifier: MIT
 *
 * units.h: which compilation unit an address was compiled in.
 *
 * What the units say themselves is asked, not .debug_aranges: clang does not write that section,
 * and linkers drop it.
 *
 *   parts   [lo, hi, unit][lo, hi, unit]...     ascending, of all units
 *
 * Owns: its arrays.
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
    Dwarf_Addr highest; /* of this hi and those of all parts before it */
    uint32_t unit;
} pp_unit_part;

typedef struct pp_unit {
    Dwarf_Die die;
    bool split; /* its functions are described in another file (.dwo) */
} pp_unit;

typedef struct pp_units {
    pp_unit *unit;
    pp_unit_part *part;
    size_t unit_count, unit_room;
    size_t part_count, part_room;
} pp_units;

enum { PP_UNIT_NONE = -1 };

/* 0 or -ENOMEM. */
int pp_units_read(const pp_debug_file *file, pp_units *units);

/* The index of the unit that has this address, or PP_UNIT_NONE. Of several the one whose part
 * begins last. */
long pp_units_find(const pp_units *units, Dwarf_Addr address);

void pp_units_release(pp_units *units);

#endif
