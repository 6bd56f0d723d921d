/* SPDX-License-Identifier: MIT
 *
 * shown_frames.h: decides which frames of a sample a profile shows [runtime/pprof.printStackRecord,
 * writeHeapProto].
 *
 *   malloc <- operator new <- grow <- main <- __libc_start_call_main <- _start
 *   \____ the allocator ____/ \_______________ shown ______________/   the root
 *
 * Go hides its runtime at the leaf, so that a report's flat values belong to the functions that
 * allocate. libpprof omits the allocator there: the called hook, the libraries of jemalloc,
 * tcmalloc and mimalloc, and functions with an allocator's name (symbol/omitted_functions.h), up to the first
 * frame of another kind. Functions of libc or of a C++ library that call malloc, such as strdup or
 * those of std::vector, are shown. Texts also omit the functions that began the thread.
 *
 * If nothing would be left, all frames are shown.
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
    uint32_t *left_out; /* by location: the allocator's functions + 1; 0 = unknown yet */
} pp_shown_frames;

/* The frames first .. end - 1 of a sample, without the `inlined` innermost functions of the first
 * one. */
typedef struct pp_frame_range {
    uint32_t first, inlined, end;
} pp_frame_range;

/* Requires that the table has all frames of the profile's samples, and that they have their names.
 * 0 or -ENOMEM. */
int pp_shown_frames_init(pp_shown_frames *shown, const pp_profile *profile,
                         pp_location_table *locations, const pp_location_names *names,
                         pp_arena *arena);

/* Returns the frames that a text shows. Without `hide_allocators` only the root is omitted. */
pp_frame_range pp_shown_frames_of(const pp_shown_frames *shown, const pp_profile_sample *sample,
                                  bool hide_allocators);

/* Returns the frames that profile.proto shows: the root included, but all frames if only the root
 * would be left. */
pp_frame_range pp_shown_frames_and_root(const pp_shown_frames *shown,
                                        const pp_profile_sample *sample);

/* Returns the number of hooks at the leaf, which needs no names; 0 if perhaps only the root would
 * be left. */
uint32_t pp_shown_frames_guess(const pp_profile_sample *sample);

#endif
