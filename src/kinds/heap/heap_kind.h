/* SPDX-License-Identifier: MIT
 *
 * heap_kind.h: what is asked of the heap profile, for tests.
 *
 * Zone: NORMAL.
 * Locks: those of kind.h.
 */
#ifndef PP_KINDS_HEAP_HEAP_KIND_H
#define PP_KINDS_HEAP_HEAP_KIND_H

#include "kinds/heap/heap_control.h"

typedef struct pp_heap_wish {
    bool heap; /* a file at the end */
    pp_heap_request request;
} pp_heap_wish;

extern pp_heap_wish pp_heap_asked;

#endif
