/* SPDX-License-Identifier: MIT
 *
 * heap_text.h: what the text form of the heap profile consists of (kinds/heap/legacy_heap.h).
 *
 * Zone: NORMAL.
 * Owns: nothing; everything is in the arena.
 */
#ifndef PP_KINDS_HEAP_HEAP_TEXT_PARTS_H
#define PP_KINDS_HEAP_HEAP_TEXT_PARTS_H

#include "kinds/heap/memory_stats.h"
#include "profile/model.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct pp_heap_text {
    pp_profile profile; /* its values are estimates if `scaled` */
    bool scaled;        /* else raw samples, all of them taken at `rate` */
    uint64_t rate;
    pp_memory_stats memory;
} pp_heap_text;

/* Samples are ordered by bytes in use, whatever the profile is called, as Go does. 0 or -ENOMEM. */
int pp_heap_text_build(pp_arena *arena, pp_heap_text *text);

#endif
