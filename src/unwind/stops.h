/* SPDX-License-Identifier: MIT
 *
 * stops.h: counts of why walks ended, and the words in which a profile's comments show them.
 *
 * A stack that lacks its callers is also counted with the module and the reason, in a table of a
 * fixed size that handlers fill without locks:
 *
 *   key     code of the module | reason      0 = free; set once
 *   first   where the first such stack ended
 *   count
 *
 * Zone: SIGNAL.
 */
#ifndef PP_UNWIND_STOPS_H
#define PP_UNWIND_STOPS_H

#include "base/compiler.h"
#include "base/text.h"
#include "modules/modules.h"
#include "unwind/walk.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PP_STOP_PLACES = 16,     /* pairs of a module and a reason; few programs have more than two */
    PP_STOP_MAX_COMMENTS = 8 /* of pp_stops_describe_place() */
};

/* Stacks that ended in one module for one reason. */
typedef struct pp_stop_place {
    uint64_t key;
    uintptr_t first; /* return-like; 0 for a moment after the key was set */
    uint64_t count;
} pp_stop_place;

typedef struct pp_stops {
    uint64_t count[PP_STOP_COUNT];
    pp_stop_place place[PP_STOP_PLACES];
    uint64_t elsewhere;     /* stacks that found no place */
    uint64_t guessed_whole; /* of PP_STOP_END: a frame was passed by a guess */
} pp_stops;

/* A part of pp_stops_count(). */
void pp_stops_count_place(pp_stops *stops, const pp_walk *walk, uint64_t weight);

/* Counts the end of `walk` with this weight. Other threads may count at the same time. */
static inline void pp_stops_count(pp_stops *stops, const pp_walk *walk, uint64_t weight)
{
    __atomic_add_fetch(&stops->count[walk->stop], weight, __ATOMIC_RELAXED);
    if (walk->guessed && walk->stop == PP_STOP_END) {
        __atomic_add_fetch(&stops->guessed_whole, weight, __ATOMIC_RELAXED);
    }
    if (pp_unlikely(walk->stop >= PP_STOP_NO_RULE)) {
        pp_stops_count_place(stops, walk, weight);
    }
}

/* Copies counts that other threads may be adding to. */
void pp_stops_read(const pp_stops *stops, pp_stops *read);

/* Adds "of 6351 samples taken 6349 have whole stacks, 2 are deeper than the buffer" to `text`.
 * `what` has the words after the first number in both forms, as for pp_text_add_count(). */
void pp_stops_describe(const pp_stops *stops, const char *what, pp_text *text);

/*
 * Adds "12 stacks end in /usr/lib/libx.so, the first at 0x1234: no FDE of the module covers the
 * address" for the place that comes `rank`th by the number of stacks that ended there; for the last
 * rank, how many ended elsewhere. False if there is nothing for this rank. The rule at that address
 * is computed now, and shown if there is one.
 */
bool pp_stops_describe_place(const pp_stops *stops, size_t rank, const pp_mapping *mappings,
                             size_t mapping_count, pp_text *text);

/* The reason in words: "no FDE of the module covers the address". */
const char *pp_reason_text(pp_reason why);

#endif
