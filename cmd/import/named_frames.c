/* SPDX-License-Identifier: MIT
 *
 * named_frames.c: see named_frames.h.
 *
 * Tested by: unit.cmd_folded, unit.cmd_perf_script.
 */
#include "import/named_frames.h"

#include "import/memory_map.h"

#include <stdlib.h>
#include <string.h>

#define PAGE UINT64_C(4096)

void cp_named_init(cp_named *named, cp_profile *profile)
{
    *named = (cp_named){.profile = profile};
    cp_index_init(&named->functions, 1024);
    cp_index_init(&named->locations, 1024);
    cp_index_init(&named->mappings, 64);
}

void cp_named_release(cp_named *named)
{
    cp_index_release(&named->functions);
    cp_index_release(&named->locations);
    cp_index_release(&named->mappings);
    free(named->of_name);
}

/* ---- functions and mappings ---- */

/* What readers demangle and shorten: nothing if it is 0. */
static cp_string symbol_of(const cp_named *named, cp_string name)
{
    const char *text = cp_profile_text(named->profile, name);
    bool mangled = text[0] == '_' && (text[1] == 'Z' || text[1] == 'R');

    return named->names_are_final && !mangled ? 0 : name;
}

uint32_t cp_named_function(cp_named *named, cp_string name, cp_string file)
{
    cp_profile *profile = named->profile;
    const uint32_t words[] = {name, file};
    uint64_t hash = cp_hash_bytes(words, sizeof words, 0), at = hash;
    uint32_t index;

    while (cp_index_next(&named->functions, hash, &at, &index)) {
        if (profile->functions[index].name == name && profile->functions[index].filename == file) {
            return index;
        }
    }
    profile->functions = cp_pool_grow(&profile->pool, profile->functions, profile->function_count,
                                      &named->function_room, sizeof *profile->functions);
    index = profile->function_count++;
    profile->functions[index] =
        (cp_function){.name = name, .system_name = symbol_of(named, name), .filename = file};
    cp_index_add(&named->functions, hash, index);
    return index;
}

uint32_t cp_named_mapping(cp_named *named, cp_string file)
{
    cp_profile *profile = named->profile;
    uint64_t hash = cp_hash_bytes(&file, sizeof file, 0), at = hash;
    uint32_t index;

    while (cp_index_next(&named->mappings, hash, &at, &index)) {
        if (profile->mappings[index].file == file) {
            return index;
        }
    }
    profile->mappings = cp_pool_grow(&profile->pool, profile->mappings, profile->mapping_count,
                                     &named->mapping_room, sizeof *profile->mappings);
    index = profile->mapping_count++;
    profile->mappings[index] = (cp_mapping){.id = index + 1, .file = file, .has_functions = true};
    cp_index_add(&named->mappings, hash, index);
    return index;
}

void cp_named_cover(cp_named *named, uint32_t mapping, uint64_t address)
{
    cp_mapping *covers = &named->profile->mappings[mapping];
    uint64_t page = address & ~(PAGE - 1);
    uint64_t limit = page > UINT64_MAX - PAGE ? UINT64_MAX : page + PAGE;

    if (covers->limit == 0 || page < covers->start) {
        covers->start = page;
    }
    if (limit > covers->limit) {
        covers->limit = limit;
    }
}

static void swap_mappings(cp_profile *profile, uint32_t other)
{
    cp_mapping mapping = profile->mappings[0];

    profile->mappings[0] = profile->mappings[other];
    profile->mappings[other] = mapping;
    for (uint32_t i = 0; i < profile->location_count; i++) {
        uint32_t *index = &profile->locations[i].mapping;
        *index = *index == 0 ? other : *index == other ? 0 : *index;
    }
}

void cp_named_program_first(cp_named *named)
{
    cp_profile *profile = named->profile;

    for (uint32_t i = 0; i < profile->mapping_count; i++) {
        if (cp_may_be_program(cp_profile_text(profile, profile->mappings[i].file))) {
            swap_mappings(profile, i);
            return;
        }
    }
}

/* ---- locations ---- */

static uint32_t append_location(cp_named *named, const cp_location *wanted)
{
    cp_profile *profile = named->profile;

    profile->locations = cp_pool_grow(&profile->pool, profile->locations, profile->location_count,
                                      &named->location_room, sizeof *profile->locations);
    uint32_t index = profile->location_count++;
    cp_location *location = &profile->locations[index];
    *location = *wanted;
    location->id = index + 1;
    location->lines = CP_POOL_ARRAY(&profile->pool, cp_line, wanted->line_count);
    if (wanted->line_count) {
        memcpy(location->lines, wanted->lines, wanted->line_count * sizeof *wanted->lines);
    }
    return index;
}

uint32_t cp_named_location(cp_named *named, const cp_location *wanted)
{
    uint64_t hash = cp_location_hash(wanted), at = hash;
    uint32_t index;

    while (cp_index_next(&named->locations, hash, &at, &index)) {
        if (cp_location_equal(&named->profile->locations[index], wanted)) {
            return index;
        }
    }
    index = append_location(named, wanted);
    cp_index_add(&named->locations, hash, index);
    return index;
}

/* Long stacks of few functions are common, so the location of a name is one look away. */
uint32_t cp_named_frame(cp_named *named, cp_string name)
{
    if (name >= named->name_room) {
        size_t room = named->profile->strings.capacity;
        named->of_name = cp_heap_resize(named->of_name, room, sizeof *named->of_name);
        memset(named->of_name + named->name_room, 0,
               (room - named->name_room) * sizeof *named->of_name);
        named->name_room = room;
    }
    if (!named->of_name[name]) {
        cp_line line = {.function = cp_named_function(named, name, 0)};
        const cp_location wanted = {.lines = &line, .line_count = 1, .mapping = CP_NO_MAPPING};
        named->of_name[name] = cp_named_location(named, &wanted) + 1;
    }
    return named->of_name[name] - 1;
}

/* ---- samples ---- */

cp_sample *cp_named_sample(cp_named *named, size_t locations)
{
    cp_profile *profile = named->profile;

    profile->samples = cp_pool_grow(&profile->pool, profile->samples, profile->sample_count,
                                    &named->sample_room, sizeof *profile->samples);
    cp_sample *sample = &profile->samples[profile->sample_count++];
    sample->locations = cp_pool_words(&profile->pool, locations, sizeof *sample->locations);
    sample->values = cp_pool_words(&profile->pool, profile->sample_type_count, sizeof(int64_t));
    return sample;
}

void cp_named_types(cp_named *named, size_t types)
{
    named->profile->sample_types = CP_POOL_ARRAY(&named->profile->pool, cp_value_type, types);
}

void cp_named_label(cp_named *named, cp_sample *sample, const char *key, cp_label label)
{
    label.key = cp_strings_put(&named->profile->strings, key);
    sample->labels[sample->label_count++] = label;
}
