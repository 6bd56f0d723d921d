/* SPDX-License-Identifier: MIT
 *
 * location_selection.h: selects the frames and locations of a profile without allocator frames.
 *
 * Names decide which frames belong to the allocator, and are known only after all samples are
 * numbered. But nearly always the hook at the leaf is the only such frame, and its address
 * identifies it. So the encoder first writes the samples by this guess:
 *
 *   samples without hooks -> numbers -> the hooks' numbers -> names -> was each guess right?
 *                              |                                 | no       | yes
 *                              1 2 3 ... count                   |          end
 *                                 samples again, with the frames that they show;
 *                                 ids 1 2 3 ... count in the order of their first use
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: nothing: its memory goes with the arena.
 */
#ifndef PP_ENCODE_LOCATION_SELECTION_H
#define PP_ENCODE_LOCATION_SELECTION_H

#include "encode/shown_frames.h"

typedef struct pp_location_selection {
    uint32_t count;        /* of the written locations */
    uint32_t *id;          /* by number - 1: the id; 0 = not written. NULL: the id is the number */
    uint32_t *index;       /* by id - 1: number - 1 */
    uint32_t *inlined;     /* by number - 1: how many functions, innermost first, are left out */
    pp_shown_frames shown; /* valid if there are ids */
} pp_location_selection;

/* Adds the hooks to the table, which has all other frames of the samples. `count` is the number of
 * locations before. */
void pp_location_selection_begin(pp_location_selection *selection, const pp_profile *profile,
                                 pp_location_table *locations);

/* Checks each guess, when names are known. If one was wrong, allocates ids. 0 or -ENOMEM. */
int pp_location_selection_decide(pp_location_selection *selection, const pp_profile *profile,
                                 pp_location_table *locations, const pp_location_names *names,
                                 pp_arena *arena);

/* Returns the first shown frame of a sample, if there are ids. */
uint32_t pp_location_selection_first(pp_location_selection *selection,
                                     const pp_profile_sample *sample);

/* Returns the id of a shown location, if there are ids; assigns a new one at its first use. */
static inline uint32_t pp_location_selection_id(pp_location_selection *selection, uint32_t number)
{
    uint32_t *id = &selection->id[number - 1];
    if (*id == 0) {
        selection->index[selection->count] = number - 1;
        *id = ++selection->count;
    }
    return *id;
}

static inline bool pp_location_selection_has(const pp_location_selection *selection, uint32_t index)
{
    return selection->id != NULL ? selection->id[index] != 0 : index < selection->count;
}

#endif
