/* SPDX-License-Identifier: MIT
 *
 * profile_decode.c: see profile_decode.h.
 *
 * A writer may put the parts of a profile in any order, and usually puts the strings last. So the
 * decoder walks the top level four times, each time for the parts whose references it knows by
 * then:
 *
 *   count     how many of each part; the string table
 *   headers   sample types, period, comments; mappings; functions      -> strings
 *   places    locations and their lines                                -> mappings, functions
 *   samples   stacks, values, labels                                   -> locations
 *
 * The decoder resolves each reference where it reads it, so that a complaint can name the byte.
 *
 * Owns: nothing after the call.
 * Tested by: unit.cmd_decode, fuzz.profile.
 */
#include "profile/profile_decode.h"

#include "base/message.h"
#include "profile/id_table.h"
#include "profile/profile_model.h"
#include "profile/protobuf.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Field numbers of profile.proto. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_DROP_FRAMES = 7,
    PROFILE_KEEP_FRAMES = 8,
    PROFILE_TIME = 9,
    PROFILE_DURATION = 10,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_PERIOD = 12,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_TYPE = 14,
    PROFILE_DOC_URL = 15,
    PROFILE_FIELDS = 16
};

typedef struct decoder {
    cp_wire wire; /* the whole profile */
    cp_profile *profile;
    cp_string *strings; /* by index in the file's string table */
    uint32_t string_count;
    uint32_t counts[PROFILE_FIELDS];
    cp_ids mappings, functions, locations;
    uint8_t *spent; /* what was read for the last time begins here; NULL: the data must stay */
} decoder;

/* ---- scalars ---- */

static bool take_uint(cp_wire *wire, const cp_field *field, const char *what, uint64_t *value)
{
    if (!cp_wire_expect(wire, field, CP_WIRE_VARINT, what)) {
        return false;
    }
    *value = field->value;
    return true;
}

static bool take_int(cp_wire *wire, const cp_field *field, const char *what, int64_t *value)
{
    if (!cp_wire_expect(wire, field, CP_WIRE_VARINT, what)) {
        return false;
    }
    *value = (int64_t)field->value;
    return true;
}

static bool take_bool(cp_wire *wire, const cp_field *field, const char *what, bool *value)
{
    if (!cp_wire_expect(wire, field, CP_WIRE_VARINT, what)) {
        return false;
    }
    *value = field->value != 0;
    return true;
}

static bool string_at(decoder *d, cp_wire *wire, size_t offset, uint64_t index, cp_string *string)
{
    if (index >= d->string_count) {
        return cp_wire_fail(
            wire, offset, "expected a string index below %u (the size of string_table), found %lld",
            d->string_count, (long long)index);
    }
    *string = d->strings[index];
    return true;
}

static bool take_string(decoder *d, cp_wire *wire, const cp_field *field, const char *what,
                        cp_string *string)
{
    if (!cp_wire_expect(wire, field, CP_WIRE_VARINT, what)) {
        return false;
    }
    return string_at(d, wire, field->offset, field->value, string);
}

/* ---- strings and headers ---- */

static bool check_type(cp_wire *wire, const cp_field *field)
{
    static const char *const messages[PROFILE_FIELDS] = {
        [PROFILE_SAMPLE_TYPE] = "a sample type", [PROFILE_SAMPLE] = "a sample",
        [PROFILE_MAPPING] = "a mapping",         [PROFILE_LOCATION] = "a location",
        [PROFILE_FUNCTION] = "a function",       [PROFILE_STRING] = "a string",
        [PROFILE_PERIOD_TYPE] = "a period type",
    };

    if (messages[field->number]) {
        return cp_wire_expect(wire, field, CP_WIRE_BYTES, messages[field->number]);
    }
    return true;
}

static bool count_parts(decoder *d)
{
    cp_wire wire = d->wire;
    cp_field field;

    while (cp_wire_next(&wire, &field)) {
        if (field.number >= PROFILE_FIELDS) {
            continue; /* an unknown field of a newer format */
        }
        if (!check_type(&wire, &field)) {
            break;
        }
        if (field.number == PROFILE_COMMENT && field.type == CP_WIRE_BYTES) {
            d->counts[PROFILE_COMMENT] += (uint32_t)cp_wire_count_varints(field.data, field.length);
        } else {
            d->counts[field.number]++;
        }
    }
    return !wire.failed;
}

static bool read_strings(decoder *d)
{
    cp_wire wire = d->wire;
    uint32_t count = 0;

    d->strings = cp_heap_alloc(d->counts[PROFILE_STRING], sizeof(cp_string));
    cp_field field;
    while (cp_wire_next(&wire, &field)) {
        if (field.number != PROFILE_STRING) {
            continue;
        }
        if (count == 0 && field.length != 0) {
            return cp_wire_fail(&wire, field.offset,
                                "expected string_table[0] to be empty, found %zu bytes",
                                field.length);
        }
        d->strings[count++] =
            cp_strings_add(&d->profile->strings, (const char *)field.data, field.length);
    }
    d->string_count = count;
    if (count == 0) {
        return cp_wire_fail(&wire, (size_t)(wire.end - wire.start),
                            "expected a string_table, found the end of the profile without one");
    }
    return true;
}

static bool read_value_type(decoder *d, const cp_field *outer, cp_value_type *type)
{
    cp_wire wire = cp_wire_enter(&d->wire, outer);
    cp_field field;

    while (cp_wire_next(&wire, &field)) {
        if (field.number == 1) {
            take_string(d, &wire, &field, "a value type's name", &type->type);
        } else if (field.number == 2) {
            take_string(d, &wire, &field, "a value type's unit", &type->unit);
        }
    }
    return !wire.failed;
}

static bool read_comments(decoder *d, const cp_field *field)
{
    cp_profile *profile = d->profile;
    cp_wire wire = d->wire;

    if (field->type != CP_WIRE_BYTES) {
        return take_string(d, &wire, field, "a comment",
                           &profile->comments[profile->comment_count++]);
    }
    wire = cp_wire_enter(&d->wire, field);
    uint64_t index;
    while (cp_wire_varint(&wire, &index)) {
        if (!string_at(d, &wire, field->offset, index,
                       &profile->comments[profile->comment_count++])) {
            break;
        }
    }
    return !wire.failed;
}

static bool read_mapping(decoder *d, const cp_field *outer)
{
    uint32_t index = d->profile->mapping_count++;
    cp_mapping *mapping = &d->profile->mappings[index];
    cp_wire wire = cp_wire_enter(&d->wire, outer);
    uint64_t id = 0;

    cp_field field;
    while (cp_wire_next(&wire, &field)) {
        switch (field.number) {
        case 1:
            take_uint(&wire, &field, "a mapping's id", &id);
            break;
        case 2:
            take_uint(&wire, &field, "a mapping's start", &mapping->start);
            break;
        case 3:
            take_uint(&wire, &field, "a mapping's limit", &mapping->limit);
            break;
        case 4:
            take_uint(&wire, &field, "a mapping's file offset", &mapping->offset);
            break;
        case 5:
            take_string(d, &wire, &field, "a mapping's file", &mapping->file);
            break;
        case 6:
            take_string(d, &wire, &field, "a mapping's build id", &mapping->build_id);
            break;
        case 7:
            take_bool(&wire, &field, "has_functions", &mapping->has_functions);
            break;
        case 8:
            take_bool(&wire, &field, "has_filenames", &mapping->has_filenames);
            break;
        case 9:
            take_bool(&wire, &field, "has_line_numbers", &mapping->has_line_numbers);
            break;
        case 10:
            take_bool(&wire, &field, "has_inline_frames", &mapping->has_inline_frames);
            break;
        default:
            break;
        }
    }
    mapping->id = id;
    return !wire.failed && cp_ids_add(&d->mappings, &d->wire, outer->offset, id, index);
}

static bool read_function(decoder *d, const cp_field *outer)
{
    uint32_t index = d->profile->function_count++;
    cp_function *function = &d->profile->functions[index];
    cp_wire wire = cp_wire_enter(&d->wire, outer);
    uint64_t id = 0;

    cp_field field;
    while (cp_wire_next(&wire, &field)) {
        switch (field.number) {
        case 1:
            take_uint(&wire, &field, "a function's id", &id);
            break;
        case 2:
            take_string(d, &wire, &field, "a function's name", &function->name);
            break;
        case 3:
            take_string(d, &wire, &field, "a function's system name", &function->system_name);
            break;
        case 4:
            take_string(d, &wire, &field, "a function's file", &function->filename);
            break;
        case 5:
            take_int(&wire, &field, "a function's start line", &function->start_line);
            break;
        default:
            break;
        }
    }
    return !wire.failed && cp_ids_add(&d->functions, &d->wire, outer->offset, id, index);
}

static bool read_time(decoder *d, const cp_field *field)
{
    cp_profile *profile = d->profile;

    if (profile->time_nanos) {
        return cp_wire_fail(&d->wire, field->offset,
                            "expected the end of the profile, found a second time stamp: these are "
                            "several profiles in one file (join them with `cpprof merge`)");
    }
    return take_int(&d->wire, field, "the time", &profile->time_nanos);
}

static bool read_header(decoder *d, const cp_field *field)
{
    cp_profile *profile = d->profile;
    cp_wire *wire = &d->wire;

    switch (field->number) {
    case PROFILE_SAMPLE_TYPE:
        return read_value_type(d, field, &profile->sample_types[profile->sample_type_count++]);
    case PROFILE_MAPPING:
        return read_mapping(d, field);
    case PROFILE_FUNCTION:
        return read_function(d, field);
    case PROFILE_DROP_FRAMES:
        return take_string(d, wire, field, "drop_frames", &profile->drop_frames);
    case PROFILE_KEEP_FRAMES:
        return take_string(d, wire, field, "keep_frames", &profile->keep_frames);
    case PROFILE_TIME:
        return read_time(d, field);
    case PROFILE_DURATION:
        return take_int(wire, field, "the duration", &profile->duration_nanos);
    case PROFILE_PERIOD_TYPE:
        memset(&profile->period_type, 0, sizeof profile->period_type);
        return read_value_type(d, field, &profile->period_type);
    case PROFILE_PERIOD:
        return take_int(wire, field, "the period", &profile->period);
    case PROFILE_COMMENT:
        return read_comments(d, field);
    case PROFILE_DEFAULT_TYPE:
        return take_string(d, wire, field, "the default sample type",
                           &profile->default_sample_type);
    case PROFILE_DOC_URL:
        return take_string(d, wire, field, "doc_url", &profile->doc_url);
    default:
        return true;
    }
}

/* ---- locations ---- */

static uint32_t count_fields(cp_wire wire, uint64_t number)
{
    uint32_t count = 0;

    cp_error ignored;
    wire.error = &ignored; /* the pass that reads the part complains */
    cp_field field;
    while (cp_wire_next(&wire, &field)) {
        count += field.number == number;
    }
    return count;
}

static bool read_line(decoder *d, const cp_field *outer, cp_line *line)
{
    cp_wire wire = cp_wire_enter(&d->wire, outer);
    uint64_t function = 0;
    int64_t column = 0;

    cp_field field;
    while (cp_wire_next(&wire, &field)) {
        if (field.number == 1) {
            take_uint(&wire, &field, "a line's function id", &function);
        } else if (field.number == 2) {
            take_int(&wire, &field, "a line number", &line->line);
        } else if (field.number == 3) {
            take_int(&wire, &field, "a column", &column);
        }
    }
    line->column = (int32_t)column;
    return !wire.failed &&
           cp_ids_find(&d->functions, &wire, outer->offset, function, &line->function);
}

static bool read_location_field(decoder *d, cp_wire *wire, const cp_field *field,
                                cp_location *location, uint64_t *id)
{
    switch (field->number) {
    case 1:
        return take_uint(wire, field, "a location's id", id);
        uint64_t mapping;
    case 2:
        if (!take_uint(wire, field, "a location's mapping id", &mapping)) {
            return false;
        }
        location->mapping = CP_NO_MAPPING;
        return mapping == 0 ||
               cp_ids_find(&d->mappings, wire, field->offset, mapping, &location->mapping);
    case 3:
        return take_uint(wire, field, "an address", &location->address);
    case 4:
        return cp_wire_expect(wire, field, CP_WIRE_BYTES, "a line") &&
               read_line(d, field, &location->lines[location->line_count++]);
    case 5:
        return take_bool(wire, field, "is_folded", &location->folded);
    default:
        return true;
    }
}

static bool read_location(decoder *d, const cp_field *outer)
{
    cp_profile *profile = d->profile;
    uint32_t index = profile->location_count++;
    cp_location *location = &profile->locations[index];
    cp_wire wire = cp_wire_enter(&d->wire, outer);
    uint64_t id = 0;

    location->mapping = CP_NO_MAPPING;
    location->lines = cp_pool_words(&profile->pool, count_fields(wire, 4), sizeof(cp_line));
    cp_field field;
    while (cp_wire_next(&wire, &field)) {
        if (!read_location_field(d, &wire, &field, location, &id)) {
            return false;
        }
    }
    location->id = id;
    return !wire.failed && cp_ids_add(&d->locations, &d->wire, outer->offset, id, index);
}

/* ---- samples ---- */

typedef struct sample_sizes {
    size_t locations, values, labels;
} sample_sizes;

static size_t count_repeated(const cp_field *field)
{
    return field->type == CP_WIRE_BYTES ? cp_wire_count_varints(field->data, field->length) : 1;
}

static void measure_sample(cp_wire wire, sample_sizes *sizes)
{
    memset(sizes, 0, sizeof *sizes);
    cp_error ignored;
    wire.error = &ignored; /* the pass that reads the part complains */
    cp_field field;
    while (cp_wire_next(&wire, &field)) {
        if (field.number == 1) {
            sizes->locations += count_repeated(&field);
        } else if (field.number == 2) {
            sizes->values += count_repeated(&field);
        } else if (field.number == 3) {
            sizes->labels++;
        }
    }
}

static bool read_stack(decoder *d, cp_wire *wire, const cp_field *field, cp_sample *sample)
{
    if (field->type != CP_WIRE_BYTES) {
        return cp_wire_expect(wire, field, CP_WIRE_VARINT, "a location id") &&
               cp_ids_find(&d->locations, wire, field->offset, field->value,
                           &sample->locations[sample->location_count++]);
    }
    cp_wire packed = cp_wire_enter(wire, field);
    uint64_t id;
    while (cp_wire_varint(&packed, &id)) {
        if (!cp_ids_find(&d->locations, &packed, field->offset, id,
                         &sample->locations[sample->location_count++])) {
            return false;
        }
    }
    return !packed.failed;
}

static bool read_values(cp_wire *wire, const cp_field *field, int64_t *values, size_t *count)
{
    if (field->type != CP_WIRE_BYTES) {
        return take_int(wire, field, "a sample's value", &values[(*count)++]);
    }
    cp_wire packed = cp_wire_enter(wire, field);
    uint64_t value;
    while (cp_wire_varint(&packed, &value)) {
        values[(*count)++] = (int64_t)value;
    }
    return !packed.failed;
}

/* Drops a label that has neither a text nor a number. */
static bool read_label(decoder *d, const cp_field *outer, cp_sample *sample)
{
    cp_wire wire = cp_wire_enter(&d->wire, outer);
    cp_label label = {0};
    cp_string text = 0, unit = 0;
    bool has_text = false, has_unit = false;

    cp_field field;
    while (cp_wire_next(&wire, &field)) {
        switch (field.number) {
        case 1:
            take_string(d, &wire, &field, "a label's key", &label.key);
            break;
        case 2:
            has_text = take_string(d, &wire, &field, "a label's text", &text) && field.value;
            break;
        case 3:
            take_int(&wire, &field, "a label's number", &label.number);
            break;
        case 4:
            has_unit = take_string(d, &wire, &field, "a label's unit", &unit) && field.value;
            break;
        default:
            break;
        }
    }
    if (wire.failed) {
        return false;
    }
    label.numeric = !has_text;
    label.text = has_text ? text : unit;
    if (has_text) {
        label.number = 0;
    }
    if (has_text || has_unit || label.number) {
        sample->labels[sample->label_count++] = label;
    }
    return true;
}

static bool read_sample_fields(decoder *d, cp_wire *wire, cp_sample *sample, size_t *value_count)
{
    cp_field field;

    while (cp_wire_next(wire, &field)) {
        bool ok = true;

        if (field.number == 1) {
            ok = read_stack(d, wire, &field, sample);
        } else if (field.number == 2) {
            ok = read_values(wire, &field, sample->values, value_count);
        } else if (field.number == 3) {
            ok = cp_wire_expect(wire, &field, CP_WIRE_BYTES, "a label") &&
                 read_label(d, &field, sample);
        }
        if (!ok) {
            return false;
        }
    }
    return !wire->failed;
}

static bool read_sample(decoder *d, const cp_field *outer)
{
    cp_profile *profile = d->profile;
    cp_sample *sample = &profile->samples[profile->sample_count++];
    cp_wire wire = cp_wire_enter(&d->wire, outer);
    size_t value_count = 0;

    sample_sizes sizes;
    measure_sample(wire, &sizes);
    sample->locations = cp_pool_words(&profile->pool, sizes.locations, sizeof(uint32_t));
    sample->values = cp_pool_words(&profile->pool, sizes.values, sizeof(int64_t));
    if (sizes.labels) {
        sample->labels = CP_POOL_ARRAY(&profile->pool, cp_label, sizes.labels);
    }
    if (!read_sample_fields(d, &wire, sample, &value_count)) {
        return false;
    }
    if (value_count != profile->sample_type_count) {
        return cp_wire_fail(&wire, outer->offset,
                            "expected a sample with %u values (one for each sample type), found "
                            "%zu",
                            profile->sample_type_count, value_count);
    }
    cp_profile_sort_labels(profile, sample->labels, sample->label_count);
    return true;
}

/* ---- all of it ---- */

static void allocate(decoder *d)
{
    cp_profile *profile = d->profile;
    const uint32_t *counts = d->counts;
    cp_pool *pool = &profile->pool;

    profile->sample_types = CP_POOL_ARRAY(pool, cp_value_type, counts[PROFILE_SAMPLE_TYPE]);
    profile->samples = CP_POOL_ARRAY(pool, cp_sample, counts[PROFILE_SAMPLE]);
    profile->mappings = CP_POOL_ARRAY(pool, cp_mapping, counts[PROFILE_MAPPING]);
    profile->locations = CP_POOL_ARRAY(pool, cp_location, counts[PROFILE_LOCATION]);
    profile->functions = CP_POOL_ARRAY(pool, cp_function, counts[PROFILE_FUNCTION]);
    profile->comments = CP_POOL_ARRAY(pool, cp_string, counts[PROFILE_COMMENT]);
    cp_ids_init(&d->mappings, counts[PROFILE_MAPPING], "mapping");
    cp_ids_init(&d->functions, counts[PROFILE_FUNCTION], "function");
    cp_ids_init(&d->locations, counts[PROFILE_LOCATION], "location");
}

static bool read_places(decoder *d, const cp_field *field)
{
    return field->number != PROFILE_LOCATION || read_location(d, field);
}

/* Gives whole pages before the field back. */
static void release_before(decoder *d, const cp_field *field)
{
    const size_t step = (size_t)1 << 20, page = 4096;
    uint8_t *now = (uint8_t *)(uintptr_t)(d->wire.start + field->offset);

    if (d->spent && (size_t)(now - d->spent) >= step) {
        uintptr_t begin = ((uintptr_t)d->spent + page - 1) / page * page;
        uintptr_t end = (uintptr_t)now / page * page;
        madvise((void *)begin, end - begin, MADV_DONTNEED);
        d->spent = (uint8_t *)end;
    }
}

static bool read_samples(decoder *d, const cp_field *field)
{
    release_before(d, field);
    return field->number != PROFILE_SAMPLE || read_sample(d, field);
}

static bool walk(decoder *d, bool (*read)(decoder *d, const cp_field *field))
{
    cp_wire wire = d->wire;
    cp_field field;

    while (cp_wire_next(&wire, &field)) {
        if (!read(d, &field)) {
            return false;
        }
    }
    return !wire.failed;
}

static bool decode(decoder *d)
{
    if (!count_parts(d) || !read_strings(d)) {
        return false;
    }
    allocate(d);
    bool ok = walk(d, read_header) && walk(d, read_places) && walk(d, read_samples);
    cp_ids_release(&d->mappings);
    cp_ids_release(&d->functions);
    cp_ids_release(&d->locations);
    return ok;
}

static int run(decoder *d, const uint8_t *data, size_t length, cp_profile **out, cp_error *error)
{
    d->profile = cp_profile_new();
    cp_wire_init(&d->wire, data, length, error);
    bool ok = decode(d);
    free(d->strings);
    if (!ok) {
        cp_profile_free(d->profile);
        return -1;
    }
    *out = d->profile;
    return 0;
}

int cp_profile_decode(const uint8_t *data, size_t length, cp_profile **out, cp_error *error)
{
    decoder d = {0};

    return run(&d, data, length, out, error);
}

int cp_profile_decode_once(uint8_t *data, size_t length, cp_profile **out, cp_error *error)
{
    decoder d = {.spent = data};

    return run(&d, data, length, out, error);
}
