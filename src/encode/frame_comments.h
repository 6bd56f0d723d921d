/* SPDX-License-Identifier: MIT
 *
 * frame_comments.h: the lines of a text profile that say which function each address is in
 * [runtime/pprof.printStackRecord].
 *
 *   #\t0xPC\tname+0xOFF\tfile:line        or the module's path, where the line is not known
 *
 * Where lines are known, the functions that were inlined at an address have lines of their own, the
 * innermost first. PC is that of the call, one below what stands in the row. Columns are aligned by
 * tabs of eight, for as many neighbouring lines as have the column [text/tabwriter]. Where the name
 * is unknown the address stands alone. An empty line follows.
 *
 * Which frames have lines: encode/shown_frames.h. The row above them has all addresses, as Go's.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: nothing: its memory goes with the arena.
 */
#ifndef PP_ENCODE_FRAME_COMMENTS_H
#define PP_ENCODE_FRAME_COMMENTS_H

#include "encode/location_names.h"
#include "encode/shown_frames.h"
#include "encode/text_stream.h"

#include <stdbool.h>

typedef struct pp_frame_comments {
    const pp_profile *profile;
    pp_location_table locations;
    pp_location_names names;
    pp_shown_frames shown;
    bool hide_allocators; /* else the roots alone */
} pp_frame_comments;

/* Finds the names of all frames of the profile's samples. 0 or -ENOMEM. */
int pp_frame_comments_init(pp_frame_comments *comments, const pp_profile *profile,
                           bool hide_allocators, pp_arena *arena);

/* Writes the lines of one sample of the profile, and the empty one. */
void pp_frame_comments_write(pp_frame_comments *comments, const pp_profile_sample *sample,
                             pp_text_stream *out);

/* A row of a text; what comes between it and the lines of its frames, too. */
typedef void pp_text_row(pp_text_stream *out, const pp_profile_sample *sample);

/* Writes every sample of the profile: its row, and unless `bare` the lines of its frames. 0 or
 * -ENOMEM. */
int pp_text_rows_write(pp_text_stream *out, const pp_profile *profile, pp_text_row *row, bool bare,
                       bool hide_allocators, pp_arena *arena);

/* The rows, what is mapped below them, and all that is not yet written: the end of a text. 0,
 * -ENOMEM or the writer's first error. */
int pp_text_rows_and_maps_finish(pp_text_stream *out, const pp_profile *profile, pp_text_row *row,
                                 bool bare, bool hide_allocators, pp_arena *arena);

#endif
