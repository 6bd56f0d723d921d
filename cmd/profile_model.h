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
#ifndef CP_PROFILE_MODEL_H
#define CP_PROFILE_MODEL_H

#include "pool.h"
#include "string_pool.h"

#include <stdbool.h>
#include <stdint.h>

struct cp_value_type {
    cp_string type, unit;
};

struct cp_mapping {
    uint64_t start, limit, offset;
    cp_string file, build_id;
    bool has_functions, has_filenames, has_line_numbers, has_inline_frames;
};

struct cp_function {
    cp_string name, system_name, filename;
    int64_t start_line;
};

struct cp_line {
    uint32_t function; /* index */
    int64_t line;
};

#define CP_NO_MAPPING UINT32_MAX

struct cp_location {
    uint64_t address;
    struct cp_line *lines; /* inlined frames, the innermost first */
    uint32_t line_count;
    uint32_t mapping; /* index, or CP_NO_MAPPING */
    bool folded;
};

/* Labels of a sample are sorted by key; text labels come before numeric ones. Values of one key
 * keep their order. */
struct cp_label {
    cp_string key;
    cp_string text; /* the value; of a numeric label: the unit, or the empty string */
    int64_t number;
    bool numeric;
};

struct cp_sample {
    uint32_t *locations; /* indices, the leaf first */
    struct cp_label *labels;
    int64_t *values;
    uint32_t location_count, label_count;
};

struct cp_profile {
    struct cp_pool pool;
    struct cp_strings strings;

    struct cp_value_type *sample_types;
    struct cp_sample *samples;
    struct cp_mapping *mappings;
    struct cp_location *locations;
    struct cp_function *functions;
    cp_string *comments;
    uint32_t sample_type_count, sample_count, mapping_count, location_count, function_count,
        comment_count;

    cp_string drop_frames, keep_frames, default_sample_type;
    struct cp_value_type period_type;
    int64_t period, time_nanos, duration_nanos;
};

struct cp_profile *cp_profile_new(void);
/* NULL is allowed. */
void cp_profile_free(struct cp_profile *profile);

static inline const char *cp_profile_text(const struct cp_profile *profile, cp_string string)
{
    return cp_strings_get(&profile->strings, string);
}

/* Puts labels into the order that struct cp_label promises. */
void cp_profile_sort_labels(const struct cp_profile *profile, struct cp_label *labels,
                            uint32_t count);

/* Gives a profile without mappings one nameless mapping that holds all its locations, so that it
 * merges with others as one program. */
void cp_profile_ensure_mapping(struct cp_profile *profile);

/*
 * Finds the sample type that `name` means: a type, "inuse_" and a type, an index from 0, or NULL
 * for the profile's default (the last one if it names none). Returns the index or -1 if there is
 * no such type.
 */
int64_t cp_profile_sample_index(const struct cp_profile *profile, const char *name);

#endif
