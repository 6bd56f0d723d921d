/* SPDX-License-Identifier: MIT
 *
 * frame_table.h: the things that reports have rows for.
 *
 * A frame is a function name, wherever it occurs; or a program, for all its addresses that have no
 * name. Each line of each location of a profile belongs to one frame.
 *
 * Owns: its arrays and labels; names stay the profile's.
 */
#ifndef CP_FRAME_TABLE_H
#define CP_FRAME_TABLE_H

#include "profile_model.h"

typedef struct cp_frame {
    cp_string name;     /* 0: none known */
    cp_string program;  /* only if there is no name: the mapping's file */
    int64_t start_line; /* likewise */
    const char *label;  /* what reports print: the name, "[program]" or "<unknown>" */
    size_t label_length;
} cp_frame;

typedef struct cp_frames {
    const cp_profile *profile;
    cp_frame *frames;
    uint32_t count;
    uint32_t *of_line;  /* frames of all locations' lines, the innermost first */
    uint32_t *first_of; /* per location: where its part of of_line begins; one more at the end */
    cp_pool pool;
} cp_frames;

void cp_frames_init(cp_frames *frames, const cp_profile *profile);
void cp_frames_release(cp_frames *frames);

/* Does any location have an inlined frame? */
bool cp_frames_have_inlined(const cp_frames *frames);

#endif
