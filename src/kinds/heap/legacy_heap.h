/* SPDX-License-Identifier: MIT
 *
 * legacy_heap.h: writes the heap profile as text, in the form that gperftools defined and Go's
 * runtime/pprof writes with debug=1.
 *
 *   heap profile: OBJECTS: BYTES [OBJECTS: BYTES] @ heap/2*RATE      in use [allocated]
 *   OBJECTS: BYTES [OBJECTS: BYTES] @ 0xPC 0xPC ...                  a row for each sample
 *   #<tab>0xPC<tab>name+0xOFF<tab>module                             its frames (frame_comments.h)
 *
 *   # runtime.MemStats ...                                           a line for each number
 *   # BySize = ...
 *   # MaxRSS = BYTES
 *
 *   MAPPED_LIBRARIES:
 *   the text of /proc/self/maps
 *
 * Rows are raw samples, which readers scale by the rate in the header; where one rate cannot
 * explain them they are estimates, and the header ends in "@ heapprofile", which readers take as
 * they are. The 2 in the header is history: the first heap profilers reported twice their rate.
 *
 * The header has the sums of the rows, with one exception: where nothing that was sampled has been
 * freed, its allocated bytes are one more than those in use. Readers take equal numbers for a
 * profile that has only what is in use, and cannot compare it with later ones, which have both.
 *
 * Zone: NORMAL.
 */
#ifndef PP_KINDS_HEAP_LEGACY_HEAP_H
#define PP_KINDS_HEAP_LEGACY_HEAP_H

#include "base/arena.h"
#include "pprof.h"
#include "kinds/heap/heap_text_parts.h"

/* `bare`: without the lines of frames. 0, -ENOMEM, the writer's first error, or that of reading the
 * maps. */
int pp_legacy_heap_encode(const pp_heap_text *text, bool bare, pp_arena *arena,
                          pprof_writer writer);

#endif
