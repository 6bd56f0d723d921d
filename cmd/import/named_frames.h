/* SPDX-License-Identifier: MIT
 *
 * named_frames.h: a profile that is made from names, as most formats of text have them.
 *
 * Equal functions, locations and mappings are one. The arrays of the profile grow as needed.
 *
 * Owns: the indices, until cp_named_release(). The profile's pool has everything else.
 */
#ifndef CP_NAMED_FRAMES_H
#define CP_NAMED_FRAMES_H

#include "base/index_table.h"
#include "profile/profile_model.h"

typedef struct cp_named {
    cp_profile *profile;
    cp_index_table functions, locations, mappings;
    size_t function_room, location_room, mapping_room, sample_room;
    uint32_t *of_name; /* per string: the location that is only this function, + 1 */
    size_t name_room;
    bool names_are_final; /* names stay as they are; only symbols (_Z, _R) are still demangled */
} cp_named;

void cp_named_init(cp_named *named, cp_profile *profile);
void cp_named_release(cp_named *named);

uint32_t cp_named_function(cp_named *named, cp_string name, cp_string file);

/* A mapping of that file, which has all functions. cp_named_cover() widens its range. */
uint32_t cp_named_mapping(cp_named *named, cp_string file);
void cp_named_cover(cp_named *named, uint32_t mapping, uint64_t address);

/* Makes the first mapping that may be a program the first of all: readers take that for the program. */
void cp_named_program_first(cp_named *named);

/* The location with that address, mapping and lines; the lines are copied. */
uint32_t cp_named_location(cp_named *named, const cp_location *wanted);
/* The location of no address that is the function of that name. */
uint32_t cp_named_frame(cp_named *named, cp_string name);

/* Appends a sample with room for that many locations, and values of 0. The sample types are known.
 * The pointer holds until the next call. */
cp_sample *cp_named_sample(cp_named *named, size_t locations);

/* The types of the samples' values; `types` is how many there will be at most. */
void cp_named_types(cp_named *named, size_t types);

/* Adds a label at the end of a sample's; there is room for it. */
void cp_named_label(cp_named *named, cp_sample *sample, const char *key, cp_label label);

#endif
