/* SPDX-License-Identifier: MIT
 *
 * lines.c: hands over to the finder.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Locks: none.
 * Owns: the finder.
 */
#include "symbol/lines.h"

#include <string.h>

static pp_lines_finder *finder;

void pp_lines_set_finder(pp_lines_finder *wanted)
{
    __atomic_store_n(&finder, wanted, __ATOMIC_RELEASE);
}

void pp_lines_find(const pp_mapping *mapping, const uintptr_t *addresses, size_t count,
                   pp_lines *lines, pp_arena *arena)
{
    pp_lines_finder *find = __atomic_load_n(&finder, __ATOMIC_ACQUIRE);
    memset(lines, 0, count * sizeof *lines);
    if (find != NULL) {
        find(mapping, addresses, count, lines, arena);
    }
}
