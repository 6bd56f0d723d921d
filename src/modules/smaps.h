/* SPDX-License-Identifier: MIT
 *
 * smaps.h: reads how much of each mapping is in memory, from /proc/PID/smaps.
 *
 * The kernel counts page by page: its sums are exact, also where the counters behind VmRSS are not
 * (before Linux 6.2, each thread keeps up to 64 pages to itself). The text is no single moment: the
 * program may change its mappings between two lines.
 *
 * Zone: NORMAL, and the fatal-signal writer (open, read and close only).
 */
#ifndef PP_MODULES_SMAPS_H
#define PP_MODULES_SMAPS_H

#include "base/arena.h"
#include "modules/maps.h"

#include <stddef.h>
#include <stdint.h>

/* Bytes. */
typedef struct pp_smaps_area {
    pp_map_line map;
    uint64_t resident;
    uint64_t owned;     /* of that: by this process only */
    uint64_t anonymous; /* of that: not what a file has; a written page of a private mapping is */
    uint64_t swapped;
    uint64_t huge;        /* of hugetlbfs, which the kernel does not count as resident */
    uintptr_t data_limit; /* where a file's variables end, in the area after it; 0: not known */
} pp_smaps_area;

typedef struct pp_smaps {
    pp_smaps_area *list; /* ascending; none overlaps another */
    size_t count;
} pp_smaps;

/* Reads "/proc/self/smaps", or `path`. 0 or -errno. */
int pp_smaps_read(const char *path, pp_arena *arena, pp_smaps *smaps);

/* Parses a text that ends with a NUL, and changes it. 0 or -ENOMEM. */
int pp_smaps_parse(char *text, size_t length, pp_arena *arena, pp_smaps *smaps);

#endif
