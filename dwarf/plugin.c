/* SPDX-License-Identifier: MIT
 *
 * plugin.c: the symbol of libpprof-dwarf.so that libpprof reads (pprof_dwarf.h).
 */
#include "dwarf/lines.h"

__attribute__((visibility("default"))) const pprof_dwarf_interface pprof_dwarf = {
    .version = PPROF_DWARF_VERSION,
    .find_lines = pp_dwarf_find_lines,
};
