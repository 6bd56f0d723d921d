/* SPDX-License-Identifier: MIT
 *
 * dwarf_lines.h: lines of a mapping, by libpprof-dwarf, which the caller has loaded.
 *
 * Zone: NORMAL.
 */
#ifndef PP_SYMBOL_DWARF_LINES_H
#define PP_SYMBOL_DWARF_LINES_H

#include "symbol/lines.h"

#include "pprof_dwarf.h"

/* Does what a pp_lines_finder does; *whole is what that returns. 0, or the plugin's error. */
int pp_dwarf_lines_find(const pprof_dwarf_interface *plugin, const pp_mapping *mapping,
                        const uintptr_t *addresses, size_t count, pp_lines *lines, pp_arena *arena,
                        bool *whole);

#endif
