/* SPDX-License-Identifier: MIT
 *
 * legacy_heap.h: encodes the heap profile as text, in the form that gperftools defined and Go's
 * runtime/pprof writes with debug=1.
 *
 *   heap profile: OBJECTS: BYTES [OBJECTS: BYTES] @ heap/2*RATE      in use [allocated]
 *   OBJECTS: BYTES [OBJECTS: BYTES] @ 0xPC 0xPC ...                  a row for each sample
 *   #<tab>0xPC<tab>name+0xOFF<tab>module                             its frames (text_rows.h)
 *
 *   # runtime.MemStats ...                                           a line for each number
 *   # BySize = ...
 *   # MaxRSS = BYTES
 *
 *   MAPPED_LIBRARIES:
 *   the text of /proc/self/maps
 *
 * Rows are raw samples, which readers scale by the rate in the header. If no single rate explains
 * all samples, rows are estimates, and the header ends in "@ heapprofile": then readers do not
 * scale the rows. The 2 in the header is history: the first heap profilers reported twice their
 * rate.
 *
 * The header has the sums of the rows, with one exception: if the program has freed no sampled
 * block, the allocated bytes in the header are one more than the bytes in use. Readers take equal
 * numbers for a profile that shows only what is in use, and cannot compare such a profile with
 * later ones, which show both.
 *
 * Zone: NORMAL.
 */
#ifndef PP_KINDS_HEAP_LEGACY_HEAP_H
#define PP_KINDS_HEAP_LEGACY_HEAP_H

#include "base/arena.h"
#include "kinds/heap/memory_stats.h"
#include "profile/model.h"

#include "pprof.h"

#include <stdbool.h>
#include <stdint.h>

/* What the text shows. */
typedef struct pp_legacy_heap {
    pp_profile profile; /* its values are estimates if `scaled` */
    bool scaled;        /* else raw samples, all of them taken at `rate` */
    uint64_t rate;
    pp_memory_stats memory;
} pp_legacy_heap;

/* Writes the text; `bare`: without the lines of frames. 0, -ENOMEM, the writer's first error, or
 * the error of reading the maps. */
int pp_legacy_heap_encode(const pp_legacy_heap *heap, bool bare, pp_arena *arena,
                          pprof_writer writer);

/* Collects what the text shows, and writes it. `bare` and errors: as above. */
int pp_legacy_heap_write(bool bare, pprof_writer writer);

#endif
