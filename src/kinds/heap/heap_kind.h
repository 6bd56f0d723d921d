/* SPDX-License-Identifier: MIT
 *
 * heap_kind.h: the options that were given for the heap profile; tests read them.
 *
 * Zone: NORMAL.
 * Locks: those of kind.h.
 */
#ifndef PP_KINDS_HEAP_HEAP_KIND_H
#define PP_KINDS_HEAP_HEAP_KIND_H

#include "kinds/heap/heap_control.h"

typedef struct pp_heap_wish {
    bool heap; /* a file is written at the end */
    pp_heap_request request;
    struct {
        const char *file;
        int64_t rate;
    } flagged; /* the values of the flags, until they are taken */
} pp_heap_wish;

extern pp_heap_wish pp_heap_asked;

#endif
