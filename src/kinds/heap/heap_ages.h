/* SPDX-License-Identifier: MIT
 *
 * heap_ages.h: how old the sampled blocks are that are in use, for the label "age" of the heap profile.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: whether ages are wanted; the rest is in the arena.
 */
#ifndef PP_KINDS_HEAP_HEAP_AGES_H
#define PP_KINDS_HEAP_HEAP_AGES_H

#include "base/arena.h"
#include "kinds/heap/heap_rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Blocks of one row, and of an age of at least `age_s` seconds: 0, or the power of two below it. */
typedef struct pp_heap_age {
    const struct pp_trie_stack *stack;
    uint64_t size;
    const pprof_labels *labels;
    int64_t age_s; /* PP_HEAP_AGE_UNKNOWN: the block is older than the wish */
    uint64_t count;
} pp_heap_age;

typedef struct pp_heap_ages {
    pp_heap_age *list; /* by row, then by age */
    size_t count;
} pp_heap_ages;

#define PP_HEAP_AGE_UNKNOWN (-1)

/* From now on the heap profile has ages. */
void pp_heap_ages_want(void);
bool pp_heap_ages_are_wanted(void);

/* The class of the age of a block that was allocated at `birth_ns`; 0: nobody knows. */
int64_t pp_heap_age_class(uint64_t now_ns, uint64_t birth_ns);

/* Reads the ages of all sampled blocks. 0 or -ENOMEM. */
int pp_heap_ages_read(pp_arena *arena, pp_heap_ages *ages);

/* The ages of a row's blocks; stores their number. */
const pp_heap_age *pp_heap_ages_of(const pp_heap_ages *ages, const pp_heap_row *row, size_t *count);

#endif
