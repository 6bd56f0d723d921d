/* SPDX-License-Identifier: MIT
 *
 * frame_table.h: the frames of a profile, for which reports have rows.
 *
 * A frame here is a function name, wherever it occurs; or a program, for all of its addresses
 * without a name. Each line of each location of a profile belongs to one frame.
 *
 * Owns: the arrays and labels of a table; the profile owns the names.
 */
#ifndef CP_FRAME_TABLE_H
#define CP_FRAME_TABLE_H

#include "profile/profile_model.h"

typedef struct cp_frame {
    cp_string name;     /* 0: unknown */
    cp_string program;  /* the mapping's file; only of a frame without a name */
    int64_t start_line; /* also only of a frame without a name */
    const char *label;  /* the text in reports: the name, "[program]" or "<unknown>" */
    size_t label_length;
} cp_frame;

typedef struct cp_frames {
    const cp_profile *profile;
    cp_frame *frames;
    uint32_t count;
    uint32_t *of_line;  /* the frame of each line of each location, the innermost line first */
    uint32_t *first_of; /* per location, and one more: the index of its first line in of_line */
    cp_pool pool;
} cp_frames;

void cp_frames_init(cp_frames *frames, const cp_profile *profile);
void cp_frames_release(cp_frames *frames);

/* Whether any location has an inlined frame. */
bool cp_frames_have_inlined(const cp_frames *frames);

#endif
