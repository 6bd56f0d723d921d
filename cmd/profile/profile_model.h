/* SPDX-License-Identifier: MIT
 *
 * profile_model.h: a profile in memory.
 *
 * The model has the shape of profile.proto, but a reference to a mapping, location or function is
 * an index into the array here. So every profile that was read is consistent. A string is a number
 * in the profile's own table (string_pool.h).
 *
 *   sample -> location -> line -> function
 *      |         '-> mapping
 *      '-> labels, values (one for each sample type)
 *
 * Owns: everything reachable from a profile is in the profile's pool. Verbs may change it in place.
 */
#ifndef CP_PROFILE_MODEL_H
#define CP_PROFILE_MODEL_H

#include "base/index_table.h"
#include "base/pool.h"
#include "base/string_pool.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct cp_value_type {
    cp_string type, unit;
} cp_value_type;

/* Ids are those of the writer; the model refers to parts by index. */

typedef struct cp_mapping {
    uint64_t id;
    uint64_t start, limit, offset;
    cp_string file, build_id;
    bool has_functions, has_filenames, has_line_numbers, has_inline_frames;
} cp_mapping;

typedef struct cp_function {
    cp_string name, system_name, filename;
    int64_t start_line;
} cp_function;

typedef struct cp_line {
    uint32_t function; /* index */
    int32_t column;    /* 0: unknown */
    int64_t line;
} cp_line;

#define CP_NO_MAPPING UINT32_MAX

typedef struct cp_location {
    uint64_t id;
    uint64_t address;
    cp_line *lines; /* inlined frames, the innermost first */
    uint32_t line_count;
    uint32_t mapping; /* index, or CP_NO_MAPPING */
    bool folded;
} cp_location;

/* The labels of a sample are sorted by key, text labels before numeric ones. Labels with one key
 * stay in the writer's order. */
typedef struct cp_label {
    cp_string key;
    cp_string text; /* the value; in a numeric label the unit, or the empty string */
    int64_t number;
    bool numeric;
} cp_label;

typedef struct cp_sample {
    uint32_t *locations; /* indices, the leaf first */
    cp_label *labels;
    int64_t *values;
    uint32_t location_count, label_count;
} cp_sample;

typedef struct cp_profile {
    cp_pool pool;
    cp_strings strings;

    cp_value_type *sample_types;
    cp_sample *samples;
    cp_mapping *mappings;
    cp_location *locations;
    cp_function *functions;
    cp_string *comments;
    uint32_t sample_type_count, sample_count, mapping_count, location_count, function_count,
        comment_count;

    cp_string drop_frames, keep_frames, default_sample_type, doc_url;
    cp_value_type period_type;
    int64_t period, time_nanos, duration_nanos;
} cp_profile;

cp_profile *cp_profile_new(void);
/* Frees a profile; NULL is allowed. */
void cp_profile_free(cp_profile *profile);

static inline const char *cp_profile_text(const cp_profile *profile, cp_string string)
{
    return cp_strings_get(&profile->strings, string);
}

/* Adds a sample type. The array has room. */
void cp_profile_add_type(cp_profile *profile, const char *type, const char *unit);

/* Servers know a profile of threads by Go's name: its type becomes "goroutine". False: it is another one. */
bool cp_profile_name_goroutines(cp_profile *profile);

/* Whether two functions or locations of one profile are the same but for their ids; equal ones have
 * equal hashes. */
bool cp_function_equal(const cp_function *left, const cp_function *right);
uint64_t cp_function_hash(const cp_function *function);
bool cp_location_equal(const cp_location *left, const cp_location *right);
uint64_t cp_location_hash(const cp_location *location);

/* Compares two indices of locations for qsort_r(): by mapping, then by address. */
int cp_location_order(const void *left, const void *right, void *profile);

/* The index of the location with this address, of no mapping; adds it if there is none. `locations`
 * finds those that this function has added. The array has room. */
uint32_t cp_profile_location_at(cp_profile *profile, cp_index_table *locations, uint64_t address);

/* Sorts labels into the order that cp_label describes. */
void cp_profile_sort_labels(const cp_profile *profile, cp_label *labels, uint32_t count);

/* Gives a profile without mappings one mapping without a name, for all locations, so that it merges
 * with other profiles as one program. */
void cp_profile_ensure_mapping(cp_profile *profile);

/* Finds a sample type. `name` is a type, "inuse_" and a type, an index from 0, or NULL for the
 * profile's default (the last type if the profile names none). Returns the index, or -1 if there is
 * no such type. */
int64_t cp_profile_sample_index(const cp_profile *profile, const char *name);

#endif
