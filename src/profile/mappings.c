/* SPDX-License-Identifier: MIT
 *
 * mappings.c: takes the mappings of the module table.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: unit.count_profile
 */
#include "profile/mappings.h"

#include "modules/modules.h"

#include <errno.h>

/* To look up more frames than this takes longer than to ask the kernel for an object's mappings. */
enum { FRAMES_FOR_EACH_OBJECT = 256 };

/* ---- samples in loaded objects ---- */

static bool has(const pp_mapping *mapping, uintptr_t address)
{
    return address >= mapping->start && address < mapping->limit;
}

/* The mapping of the address; NULL: it is in no object. The objects ascend from the second one on. */
static const pp_mapping *mapping_of(const pp_mapping *objects, size_t count, uintptr_t address)
{
    size_t low = 1;
    size_t high = count;
    if (count > 0 && has(&objects[0], address)) {
        return &objects[0];
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (address < objects[middle].start) {
            high = middle;
        } else if (address >= objects[middle].limit) {
            low = middle + 1;
        } else {
            return &objects[middle];
        }
    }
    return NULL;
}

/* Whether all addresses are in objects. False as well where there are too many to look at. */
static bool is_in_objects(const pp_profile *profile, const pp_mapping *objects, size_t count)
{
    const pp_mapping *last = objects; /* most frames are in the object of the frame before */
    size_t frames = 0;
    for (size_t i = 0; i < profile->sample_count; i++) {
        const pp_profile_sample *sample = &profile->samples[i];
        frames += sample->depth;
        if (frames > count * FRAMES_FOR_EACH_OBJECT) {
            return false;
        }
        for (uint32_t k = 0; k < sample->depth; k++) {
            uintptr_t address = sample->pc[k] - 1;
            last = has(last, address) ? last : mapping_of(objects, count, address);
            if (last == NULL) {
                return false;
            }
        }
    }
    return true;
}

/* ---- both ---- */

int pp_profile_add_mappings(pp_arena *arena, pp_profile *profile)
{
    pp_mapping *objects = NULL;
    size_t count = 0;
    int error = pp_modules_objects(arena, &objects, &count);
    if (error != 0) {
        return error;
    }
    if (count == 0 || !is_in_objects(profile, objects, count)) {
        return pp_profile_add_all_mappings(arena, profile);
    }
    profile->mappings = objects;
    profile->mapping_count = count;
    return 0;
}

int pp_profile_add_all_mappings(pp_arena *arena, pp_profile *profile)
{
    pp_mapping *mappings = NULL;
    size_t count = 0;
    int error = pp_modules_mappings(arena, &mappings, &count);
    if (error == -ENOMEM) {
        return error;
    }
    profile->mappings = mappings;
    profile->mapping_count = count;
    return 0;
}
