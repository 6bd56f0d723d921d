/* SPDX-License-Identifier: MIT
 *
 * units.c: see units.h.
 *
 * Owns: nothing.
 */
#include "dwarf/units.h"

#include "dwarf/array.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

static int add_part(const pp_debug_file *file, pp_units *units, Dwarf_Addr lo, Dwarf_Addr hi)
{
    if (lo >= hi || lo < file->code_lo || lo >= file->code_hi) {
        return 0; /* the range of a function that the linker dropped */
    }
    pp_unit_part *part =
        pp_array_more(units->part, &units->part_room, units->part_count, sizeof *part);
    if (part == NULL) {
        return -ENOMEM;
    }
    units->part = part;
    part[units->part_count++] =
        (pp_unit_part){.lo = lo, .hi = hi, .unit = (uint32_t)units->unit_count};
    return 0;
}

static int add_unit(const pp_debug_file *file, pp_units *units, Dwarf_Die *die, bool split)
{
    Dwarf_Addr base = 0;
    Dwarf_Addr lo = 0;
    Dwarf_Addr hi = 0;
    size_t before = units->part_count;
    int error = 0;
    for (ptrdiff_t at = 0; error == 0 && (at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0;) {
        error = add_part(file, units, lo, hi);
    }
    if (error != 0 || units->part_count == before) {
        return error;
    }
    pp_unit *unit = pp_array_more(units->unit, &units->unit_room, units->unit_count, sizeof *unit);
    if (unit == NULL) {
        return -ENOMEM;
    }
    units->unit = unit;
    unit[units->unit_count++] = (pp_unit){.die = *die, .split = split};
    return 0;
}

static bool is_split(uint8_t type, Dwarf_Die *die)
{
    return type == DW_UT_skeleton || dwarf_hasattr(die, DW_AT_GNU_dwo_name) ||
           dwarf_hasattr(die, DW_AT_dwo_name);
}

static int by_start(const void *left, const void *right)
{
    const pp_unit_part *a = left;
    const pp_unit_part *b = right;
    return a->lo != b->lo ? (a->lo > b->lo) - (a->lo < b->lo)
                          : (a->unit > b->unit) - (a->unit < b->unit);
}

int pp_units_read(const pp_debug_file *file, pp_units *units)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Half version = 0;
    uint8_t type = 0;
    Dwarf_Die die;
    int error = 0;
    *units = (pp_units){0};
    while (error == 0 &&
           dwarf_get_units(file->dwarf, unit, &unit, &version, &type, &die, NULL) == 0) {
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_compile_unit || tag == DW_TAG_skeleton_unit) {
            error = add_unit(file, units, &die, is_split(type, &die));
        }
    }
    if (units->part_count > 0) {
        qsort(units->part, units->part_count, sizeof *units->part, by_start);
    }
    Dwarf_Addr highest = 0;
    for (size_t i = 0; i < units->part_count; i++) {
        highest = units->part[i].hi > highest ? units->part[i].hi : highest;
        units->part[i].highest = highest;
    }
    return error;
}

long pp_units_find(const pp_units *units, Dwarf_Addr address)
{
    size_t lo = 0;
    size_t hi = units->part_count; /* hi: the first part known to begin above the address */
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (units->part[middle].lo <= address) {
            lo = middle + 1;
        } else {
            hi = middle;
        }
    }
    for (; lo > 0 && units->part[lo - 1].highest > address; lo--) {
        if (units->part[lo - 1].hi > address) {
            return units->part[lo - 1].unit;
        }
    }
    return PP_UNIT_NONE;
}

void pp_units_release(pp_units *units)
{
    free(units->unit);
    free(units->part);
    *units = (pp_units){0};
}
