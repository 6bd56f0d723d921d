/* SPDX-License-Identifier: MIT
 *
 * profile_model.h: a profile in memory, as the verbs see it.
 *
 * The shape is that of profile.proto with the ids resolved: what points to a mapping, location or
 * function holds its index in the array here, so that a profile that was read is consistent by
 * construction. Strings are numbers of the profile's own table (string_pool.h).
 *
 *   sample -> location -> line -> function
 *      |         '-> mapping
 *      '-> labels, values (one for each sample type)
 *
 * Owns: everything reachable from a profile lies in its pool; verbs may change it in place.
 */
#ifndef CPPROF_PROFILE_MODEL_H
#define CPPROF_PROFILE_MODEL_H

#include "pool.h"
#include "string_pool.h"

#include <stdbool.h>
#include <stdint.h>

struct pp_value_type {
    pp_string type, unit;
};

struct pp_mapping {
    uint64_t start, limit, offset;
    pp_string file, build_id;
    bool has_functions, has_filenames, has_line_numbers, has_inline_frames;
};

struct pp_function {
    pp_string name, system_name, filename;
    int64_t start_line;
};

struct pp_line {
    uint32_t function; /* index */
    int64_t line;
};

#define PP_NO_MAPPING UINT32_MAX

struct pp_location {
    uint64_t address;
    struct pp_line *lines; /* inlined frames, the innermost first */
    uint32_t line_count;
    uint32_t mapping; /* index, or PP_NO_MAPPING */
    bool folded;
};

/* Labels of a sample are sorted by key; text labels come before numeric ones. Values of one key
 * keep their order. */
struct pp_label {
    pp_string key;
    pp_string text; /* the value; of a numeric label: the unit, or the empty string */
    int64_t number;
    bool numeric;
};

struct pp_sample {
    uint32_t *locations; /* indices, the leaf first */
    struct pp_label *labels;
    int64_t *values;
    uint32_t location_count, label_count;
};

struct pp_profile {
    struct pp_pool pool;
    struct pp_strings strings;

    struct pp_value_type *sample_types;
    struct pp_sample *samples;
    struct pp_mapping *mappings;
    struct pp_location *locations;
    struct pp_function *functions;
    pp_string *comments;
    uint32_t sample_type_count, sample_count, mapping_count, location_count, function_count,
        comment_count;

    pp_string drop_frames, keep_frames, default_sample_type;
    struct pp_value_type period_type;
    int64_t period, time_nanos, duration_nanos;
};

struct pp_profile *pp_profile_new(void);
/* NULL is allowed. */
void pp_profile_free(struct pp_profile *profile);

static inline const char *pp_profile_text(const struct pp_profile *profile, pp_string string)
{
    return pp_strings_get(&profile->strings, string);
}

/* Puts labels into the order that struct pp_label promises. */
void pp_profile_sort_labels(const struct pp_profile *profile, struct pp_label *labels,
                            uint32_t count);

/* Gives a profile without mappings one nameless mapping that holds all its locations, so that it
 * merges with others as one program. */
void pp_profile_ensure_mapping(struct pp_profile *profile);

/*
 * Finds the sample type that `name` means: a type, "inuse_" and a type, an index from 0, or NULL
 * for the profile's default (the last one if it names none). Returns the index or -1 if there is
 * no such type.
 */
int64_t pp_profile_sample_index(const struct pp_profile *profile, const char *name);

#endif
