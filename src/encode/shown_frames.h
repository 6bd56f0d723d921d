/* SPDX-License-Identifier: MIT
 *
 * shown_frames.h: which frames of a sample say something to its reader
 * [runtime/pprof.printStackRecord, writeHeapProto].
 *
 *   malloc <- operator new <- grow <- main <- __libc_start_call_main <- _start
 *   \____ the allocator ____/ \_______________ shown ______________/   the root
 *
 * Go hides its runtime at the leaf, so that a report's flat values stand at the functions that
 * allocate. Here the allocator is left out there: the hook that was called, jemalloc's, tcmalloc's
 * and mimalloc's own libraries, and functions with an allocator's name (symbol/hidden.h). The first
 * frame of another kind ends that; what libc or a C++ library calls malloc for, strdup or
 * std::vector, is shown. Texts leave out, too, what began the thread.
 *
 * If nothing is left, everything is shown.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: nothing: its memory goes with the arena.
 */
#ifndef PP_ENCODE_SHOWN_FRAMES_H
#define PP_ENCODE_SHOWN_FRAMES_H

#include "encode/location_names.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct pp_shown_frames {
    const pp_profile *profile;
    pp_location_table *locations;
    const pp_location_names *names;
    uint32_t
        *left_out; /* by location: functions that are the allocator's, + 1; 0 = not looked at yet */
} pp_shown_frames;

/* Frames first .. end - 1 of a sample, without the `inlined` innermost functions of the
 * first one. */
typedef struct pp_frame_range {
    uint32_t first, inlined, end;
} pp_frame_range;

/* All frames of the profile's samples are in the table, and have their names. 0 or -ENOMEM. */
int pp_shown_frames_init(pp_shown_frames *shown, const pp_profile *profile,
                         pp_location_table *locations, const pp_location_names *names,
                         pp_arena *arena);

/* As a text has them. `hide_allocators`: else only the root is left out. */
pp_frame_range pp_shown_frames_of(const pp_shown_frames *shown, const pp_profile_sample *sample,
                                  bool hide_allocators);

/* As profile.proto has them: to the end, but nothing is left where only the root is. */
pp_frame_range pp_shown_frames_and_root(const pp_shown_frames *shown,
                                        const pp_profile_sample *sample);

/* How many frames at the leaf are hooks, which is told without a name; 0 if there may be nothing
 * else but the root. */
uint32_t pp_shown_frames_guess(const pp_profile_sample *sample);

#endif
