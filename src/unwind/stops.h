/* SPDX-License-Identifier: MIT
 *
 * stops.h: counts of why walks ended, and the words in which a profile's comment shows them.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_UNWIND_STOPS_H
#define PP_UNWIND_STOPS_H

#include "base/text.h"
#include "unwind/walk.h"

#include <stdint.h>

typedef struct pp_stops {
    uint64_t count[PP_STOP_COUNT];
    uint64_t guessed_whole; /* of PP_STOP_END: a frame was passed by a guess */
} pp_stops;

/* Counts the end of `walk` with this weight. Other threads may count at the same time. */
static inline void pp_stops_count(pp_stops *stops, const pp_walk *walk, uint64_t weight)
{
    __atomic_add_fetch(&stops->count[walk->stop], weight, __ATOMIC_RELAXED);
    if (walk->guessed && walk->stop == PP_STOP_END) {
        __atomic_add_fetch(&stops->guessed_whole, weight, __ATOMIC_RELAXED);
    }
}

/* Copies counts that other threads may be adding to. */
void pp_stops_read(const pp_stops *stops, pp_stops *read);

/* Adds "of 6351 samples taken 6349 have whole stacks, 2 are deeper than the buffer" to `text`.
 * `what` has the words after the first number in both forms, as for pp_text_add_count(). */
void pp_stops_describe(const pp_stops *stops, const char *what, pp_text *text);

#endif
