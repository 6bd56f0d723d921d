/* SPDX-License-Identifier: MIT
 *
 * frame_table.h: the things that reports have rows for.
 *
 * A frame is a function name, wherever it occurs; or a program, for all its addresses that have no
 * name. Each line of each location of a profile belongs to one frame.
 *
 * Owns: its arrays and labels; names stay the profile's.
 */
#ifndef CPPROF_FRAME_TABLE_H
#define CPPROF_FRAME_TABLE_H

#include "profile_model.h"

struct pp_frame {
    pp_string name;     /* 0: none known */
    pp_string program;  /* only if there is no name: the mapping's file */
    int64_t start_line; /* likewise */
    const char *label;  /* what reports print: the name, "[program]" or "<unknown>" */
    size_t label_length;
};

struct pp_frames {
    const struct pp_profile *profile;
    struct pp_frame *frames;
    uint32_t count;
    uint32_t *of_line;  /* frames of all locations' lines, the innermost first */
    uint32_t *first_of; /* per location: where its part of of_line begins; one more at the end */
    struct pp_pool pool;
};

void pp_frames_init(struct pp_frames *frames, const struct pp_profile *profile);
void pp_frames_release(struct pp_frames *frames);

/* Does any location have an inlined frame? */
bool pp_frames_have_inlined(const struct pp_frames *frames);

#endif
