/* SPDX-License-Identifier: MIT
 *
 * split_unit.h: a split unit, made into an ordinary one.
 *
 * With -gsplit-dwarf the program has only a skeleton of each unit: its lines and its addresses. The
 * functions are in a .dwo or .dwp file (split_file.h), and refer to the addresses by numbers. libdw
 * would open and map such files by itself, knows no .dwp, and does not look for a file that was
 * moved. So an ELF file is put together in memory in which the unit is an ordinary one:
 *
 *   [Ehdr][Shdr...][.debug_info: the unit][.debug_abbrev][.debug_str][.debug_str_offsets]
 *                  [.debug_addr, .debug_ranges: the skeleton's part][.debug_rnglists]
 *
 * An ordinary unit has the address that its ranges are relative to; a split one leaves it to the
 * skeleton. The unit's id is not needed any more, and has the size of an address:
 *
 *   DWARF 5   [length, version, type, size, abbrev][id: 8 bytes][code][attributes...]
 *          -> [length, version, type, size, abbrev][code][address: 8 bytes][attributes...]
 *   DWARF 4   the attribute DW_AT_GNU_dwo_id becomes DW_AT_low_pc
 *
 * Owns: the memory of the ELF file, until it is closed.
 * Tested by: e2e.lines_split
 */
#ifndef PP_DWARF_SPLIT_UNIT_H
#define PP_DWARF_SPLIT_UNIT_H

#include "dwarf/debug_file.h"
#include "dwarf/split_file.h"

#include <elfutils/libdw.h>
#include <stdbool.h>

typedef struct pp_split_unit {
    Dwarf *dwarf; /* NULL: the description was not found */
    Elf *elf;
    uint8_t *memory;
    Dwarf_Die die;
} pp_split_unit;

/* The files of a module. */
typedef struct pp_split_search {
    const pprof_dwarf_module *module;
    const pprof_dwarf_host *host;
    const pp_debug_file *file;
    void (*no_memory)(void); /* libdw calls it; it must not return */
    pp_split_file package;   /* the .dwp */
    bool package_tried;
} pp_split_search;

/* Opens the description of a skeleton. Returns 0, also if it was not found; -ENOMEM; or -EFBIG. */
int pp_split_unit_open(pp_split_search *search, Dwarf_Die *die, pp_split_unit *unit);

void pp_split_unit_close(pp_split_unit *unit);
void pp_split_search_end(pp_split_search *search);

#endif
