/* SPDX-License-Identifier: MIT
 *
 * text_rows.h: writes the rows of a text profile, and below each the lines that name the function
 * of each address [runtime/pprof.printStackRecord].
 *
 *   #\t0xPC\tname+0xOFF\tfile:line        or the module's path, if the line is unknown
 *
 * If lines are known, each function that was inlined at an address has a line of its own, the
 * innermost first. PC is the address of the call, one less than in the row. Tabs of eight align the
 * columns of adjacent lines that have the column [text/tabwriter]. A frame without a name has only
 * its address. An empty line ends the frames.
 *
 * encode/shown_frames.h decides which frames have lines. The row above them has all addresses, as
 * in Go.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: nothing: its memory goes with the arena.
 */
#ifndef PP_ENCODE_TEXT_ROWS_H
#define PP_ENCODE_TEXT_ROWS_H

#include "encode/location_names.h"
#include "encode/shown_frames.h"
#include "encode/text_stream.h"

#include <stdbool.h>

typedef struct pp_frame_lines {
    const pp_profile *profile;
    pp_location_table locations;
    pp_location_names names;
    pp_shown_frames shown;
    bool hide_allocators; /* else hide only the roots */
} pp_frame_lines;

/* Finds the names of all frames of the profile's samples. 0 or -ENOMEM. */
int pp_frame_lines_init(pp_frame_lines *frames, const pp_profile *profile, bool hide_allocators,
                        pp_arena *arena);

/* Writes the lines of one sample of the profile, and the empty line. */
void pp_frame_lines_write(pp_frame_lines *frames, const pp_profile_sample *sample,
                          pp_text_stream *out);

/* Writes a row of a text, and anything between the row and the lines of its frames. */
typedef void pp_text_row(pp_text_stream *out, const pp_profile_sample *sample);

/* Writes every sample of the profile: its row, and unless `bare` the lines of its frames. 0 or
 * -ENOMEM. */
int pp_text_rows_write(pp_text_stream *out, const pp_profile *profile, pp_text_row *row, bool bare,
                       bool hide_allocators, pp_arena *arena);

/* Writes the end of a text: the rows, the memory map, and the buffered rest. 0, -ENOMEM or the
 * writer's first error. */
int pp_text_rows_and_maps_finish(pp_text_stream *out, const pp_profile *profile, pp_text_row *row,
                                 bool bare, bool hide_allocators, pp_arena *arena);

#endif
