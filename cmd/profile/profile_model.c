/* SPDX-License-Identifier: MIT
 *
 * profile_model.c: see profile_model.h.
 *
 * Owns: the profile; the rest is in its pool.
 * Tested by: unit.cmd_decode, unit.cmd_filter.
 */
#include "profile/profile_model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

cp_profile *cp_profile_new(void)
{
    cp_profile *profile = cp_heap_alloc(1, sizeof *profile);

    cp_pool_init(&profile->pool);
    cp_strings_init(&profile->strings, &profile->pool);
    return profile;
}

void cp_profile_free(cp_profile *profile)
{
    if (!profile) {
        return;
    }
    cp_strings_release(&profile->strings);
    cp_pool_release(&profile->pool);
    free(profile);
}

static bool label_after(const cp_profile *profile, const cp_label *left, const cp_label *right)
{
    if (left->numeric != right->numeric) {
        return left->numeric;
    }
    return strcmp(cp_profile_text(profile, left->key), cp_profile_text(profile, right->key)) > 0;
}

/* Merges the sorted runs [0, middle) and [middle, count), by way of `spare`. The order of equal
 * labels stays. */
static void merge_runs(const cp_profile *profile, cp_label *labels, uint32_t middle, uint32_t count,
                       cp_label *spare)
{
    uint32_t left = 0, right = middle;

    for (uint32_t i = 0; i < count; i++) {
        bool take_right = left == middle ||
                          (right < count && label_after(profile, &labels[left], &labels[right]));
        spare[i] = take_right ? labels[right++] : labels[left++];
    }
    memcpy(labels, spare, count * sizeof *labels);
}

static void merge_sort(const cp_profile *profile, cp_label *labels, uint32_t count, cp_label *spare)
{
    uint32_t middle = count / 2;

    if (count < 2) {
        return;
    }
    merge_sort(profile, labels, middle, spare);
    merge_sort(profile, labels + middle, count - middle, spare);
    merge_runs(profile, labels, middle, count, spare);
}

void cp_profile_sort_labels(const cp_profile *profile, cp_label *labels, uint32_t count)
{
    uint32_t ordered = 1;

    while (ordered < count && !label_after(profile, &labels[ordered - 1], &labels[ordered])) {
        ordered++;
    }
    if (ordered >= count) {
        return; /* most writers sort them */
    }
    cp_label *spare = cp_heap_alloc(count, sizeof *spare);
    merge_sort(profile, labels, count, spare);
    free(spare);
}

void cp_profile_ensure_mapping(cp_profile *profile)
{
    if (profile->mapping_count) {
        return;
    }
    profile->mappings = CP_POOL_ARRAY(&profile->pool, cp_mapping, 1);
    profile->mapping_count = 1;
    profile->mappings[0].id = 1;
    for (uint32_t i = 0; i < profile->location_count; i++) {
        profile->locations[i].mapping = 0;
    }
}

static int64_t find_type(const cp_profile *profile, const char *name)
{
    for (uint32_t i = 0; i < profile->sample_type_count; i++) {
        if (strcmp(cp_profile_text(profile, profile->sample_types[i].type), name) == 0) {
            return i;
        }
    }
    return -1;
}

/* Reads a whole decimal number, with or without a sign. */
static bool parse_index(const char *text, long *index)
{
    if (*text != '-' && *text != '+' && (*text < '0' || *text > '9')) {
        return false;
    }
    errno = 0;
    char *end;
    *index = strtol(text, &end, 10);
    return errno == 0 && *end == '\0' && end != text;
}

int64_t cp_profile_sample_index(const cp_profile *profile, const char *name)
{
    static const char inuse[] = "inuse_";

    if (!name) {
        const char *preferred = cp_profile_text(profile, profile->default_sample_type);
        int64_t found = *preferred ? find_type(profile, preferred) : -1;
        return found >= 0 ? found : (int64_t)profile->sample_type_count - 1;
    }
    long index;
    if (parse_index(name, &index)) {
        return index >= 0 && index < (long)profile->sample_type_count ? index : -1;
    }
    const char *bare = strncmp(name, inuse, sizeof inuse - 1) == 0 ? name + sizeof inuse - 1 : name;
    for (uint32_t i = 0; i < profile->sample_type_count; i++) {
        const char *type = cp_profile_text(profile, profile->sample_types[i].type);
        if (strcmp(type, name) == 0 || strcmp(type, bare) == 0) {
            return i;
        }
    }
    return -1;
}

void cp_profile_add_type(cp_profile *profile, const char *type, const char *unit)
{
    cp_value_type *added = &profile->sample_types[profile->sample_type_count++];

    added->type = cp_strings_put(&profile->strings, type);
    added->unit = cp_strings_put(&profile->strings, unit);
}

bool cp_profile_name_goroutines(cp_profile *p)
{
    bool is = p->sample_type_count == 1 &&
              strcmp(cp_profile_text(p, p->sample_types[0].type), "thread") == 0;

    if (is) {
        p->sample_types[0].type = p->period_type.type = cp_strings_put(&p->strings, "goroutine");
    }
    return is;
}

bool cp_function_equal(const cp_function *left, const cp_function *right)
{
    return left->name == right->name && left->system_name == right->system_name &&
           left->filename == right->filename && left->start_line == right->start_line;
}

uint64_t cp_function_hash(const cp_function *function)
{
    const uint64_t key[] = {function->name, function->system_name, function->filename,
                            (uint64_t)function->start_line};

    return cp_hash_bytes(key, sizeof key, 0);
}

static bool lines_equal(const cp_location *left, const cp_location *right)
{
    if (left->line_count != right->line_count) {
        return false;
    }
    for (uint32_t i = 0; i < left->line_count; i++) {
        if (left->lines[i].function != right->lines[i].function ||
            left->lines[i].line != right->lines[i].line ||
            left->lines[i].column != right->lines[i].column) {
            return false;
        }
    }
    return true;
}

bool cp_location_equal(const cp_location *left, const cp_location *right)
{
    return left->address == right->address && left->mapping == right->mapping &&
           left->folded == right->folded && lines_equal(left, right);
}

uint64_t cp_location_hash(const cp_location *location)
{
    const uint64_t key[] = {location->address, location->mapping, location->folded};
    uint64_t hash = cp_hash_bytes(key, sizeof key, location->line_count);

    for (uint32_t i = 0; i < location->line_count; i++) {
        const uint64_t line[] = {location->lines[i].function, (uint64_t)location->lines[i].line,
                                 (uint64_t)location->lines[i].column};
        hash = cp_hash_bytes(line, sizeof line, hash);
    }
    return hash;
}

int cp_location_order(const void *left, const void *right, void *profile)
{
    const cp_location *locations = ((const cp_profile *)profile)->locations;
    const cp_location *a = &locations[*(const uint32_t *)left];
    const cp_location *b = &locations[*(const uint32_t *)right];

    if (a->mapping != b->mapping) {
        return a->mapping > b->mapping ? 1 : -1;
    }
    return (a->address > b->address) - (a->address < b->address);
}

uint32_t cp_profile_location_at(cp_profile *profile, cp_index_table *locations, uint64_t address)
{
    uint64_t hash = cp_hash_bytes(&address, sizeof address, 0);
    uint64_t at = hash;
    uint32_t index;

    while (cp_index_next(locations, hash, &at, &index)) {
        if (profile->locations[index].address == address) {
            return index;
        }
    }
    index = profile->location_count++;
    profile->locations[index] =
        (cp_location){.id = index + 1, .address = address, .mapping = CP_NO_MAPPING};
    cp_index_add(locations, hash, index);
    return index;
}
