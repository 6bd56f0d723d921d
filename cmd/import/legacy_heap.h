/* SPDX-License-Identifier: MIT
 *
 * legacy_heap.h: what the texts of heap profiles share: counts of objects and bytes, which may be
 * samples.
 */
#ifndef CP_LEGACY_HEAP_H
#define CP_LEGACY_HEAP_H

#include "import/legacy_lines.h"

/* "4: 4096 [9: 9216]": what is in use, and what was allocated in all; objects and bytes. */
typedef struct cp_heap_row {
    int64_t in_use[2], allocated[2];
} cp_heap_row;

typedef struct cp_heap {
    cp_legacy *legacy;
    bool sampled;       /* the profile's period is the bytes for each sample */
    bool has_allocated; /* the rows have more than what is in use */
} cp_heap;

/* Reads a row, and goes past it. */
bool cp_heap_parse_row(const char **text, cp_heap_row *row);

/* Whether what was allocated in all is more than a copy of what is in use, or nothing. */
bool cp_heap_has_allocated(const cp_heap_row *total);

/* Adds the sample types, and sets the period's. */
void cp_heap_begin(const cp_heap *heap);

/* Adds a sample with the stack in the text. Returns 0, or -1 with a sentence. */
int cp_heap_add_row(const cp_heap *heap, const cp_heap_row *row, const char *stack);

#endif
