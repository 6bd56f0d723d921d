/* SPDX-License-Identifier: MIT
 *
 * location_selection.h: which frames and locations a profile is written with that leaves the
 * allocator's out.
 *
 * Names decide which frames these are, and are known after all samples are numbered. But nearly
 * always it is the hook at the leaf alone, which is told by its address. So samples are written by
 * this guess first:
 *
 *   samples without hooks -> numbers -> the hooks' numbers -> names -> was each guess right? --yes--> done
 *                              |                                 |no
 *                              1 2 3 ... count                   samples again, with what they show;
 *                                                                ids 1 2 3 ... count in the order of their first use
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: nothing: its memory goes with the arena.
 */
#ifndef PP_ENCODE_LOCATION_SELECTION_H
#define PP_ENCODE_LOCATION_SELECTION_H

#include "encode/shown_frames.h"

typedef struct pp_location_selection {
    uint32_t count; /* of the locations that are written */
    uint32_t
        *id; /* of the location with that number; 0 = it is not written. NULL: the number itself */
    uint32_t *index; /* the other way round: number - 1 */
    uint32_t
        *inlined; /* of each location: how many of its functions, innermost first, are left out */
    pp_shown_frames shown; /* where there are ids */
} pp_location_selection;

/* All frames of the samples but the hooks are in the table. These are added; `count` is what was
 * there before. */
void pp_location_selection_begin(pp_location_selection *selection, const pp_profile *profile,
                                 pp_location_table *locations);

/* Names are known: looks whether each guess was right. If not, there are ids to be given. 0 or
 * -ENOMEM. */
int pp_location_selection_decide(pp_location_selection *selection, const pp_profile *profile,
                                 pp_location_table *locations, const pp_location_names *names,
                                 pp_arena *arena);

/* The first frame of a sample that is shown, where there are ids. */
uint32_t pp_location_selection_first(pp_location_selection *selection,
                                     const pp_profile_sample *sample);

/* The id of a location that is shown, likewise. */
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
