/* SPDX-License-Identifier: MIT
 *
 * extents.h: finds the start and the end of functions without a symbol, by the unwind table.
 *
 *   PT_GNU_EH_FRAME  [version, encodings][count][(start, entry), ascending ...]
 *                                                           |
 *   .eh_frame                          [length][CIE][start][size] ...    [CIE: encodings]
 *
 * A stripped file keeps both tables, because exceptions need them. Compilers write one entry for
 * each function, and another for a part that is placed elsewhere (.cold). The unwinder reads the
 * same entries in memory (unwind/cfi.h); this code reads the file, so that unloaded modules have
 * extents as well. Formats: Linux Standard Base Core 5.0, section 10.6.
 *
 * Zone: NORMAL, and the fatal-signal writer (pread only).
 */
#ifndef PP_SYMBOL_EXTENTS_H
#define PP_SYMBOL_EXTENTS_H

#include "base/arena.h"
#include "elf/elf.h"

#include <stddef.h>
#include <stdint.h>

typedef struct pp_extent {
    uint64_t start, limit; /* link-time addresses; both 0 = unknown */
} pp_extent;

/* Finds the entries that hold `count` ascending link-time addresses. extents[i] belongs to
 * addresses[i]. `scratch` holds what the function reads, since the caller's stack may be small. */
void pp_extents_find(const pp_elf *elf, const uint64_t *addresses, size_t count, pp_extent *extents,
                     pp_arena *scratch);

#endif
