/* SPDX-License-Identifier: MIT
 *
 * profile_decode.c: see profile_decode.h.
 *
 * A writer may put the parts of a profile in any order, and usually puts the strings last. So the
 * decoder walks the top level to count the parts, and then once for each kind of part, when the
 * parts that this kind refers to are known:
 *
 *   strings
 *   headers   sample types, period, comments; mappings; functions      -> strings
 *   places    locations and their lines                                -> mappings, functions
 *   samples   stacks, values, labels                                   -> locations
 *
 * Nearly every writer keeps the parts of a kind together, so a walk goes only from the first part
 * of its kind to the last. The decoder resolves each reference where it reads it, so that a
 * complaint can name the byte.
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
#include <unistd.h>

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

/* The bytes from the first to the last field of a number. */
typedef struct span {
    const uint8_t *begin, *end;
} span;

/* An array that is used for one part after the other. */
typedef struct scratch {
    void *data;
    size_t capacity;
} scratch;

typedef struct decoder {
    cp_wire wire; /* the whole profile */
    cp_profile *profile;
    cp_string *strings; /* by index in the file's string table */
    uint32_t string_count;
    uint32_t counts[PROFILE_FIELDS];
    span spans[PROFILE_FIELDS];
    scratch stack, values, labels, lines;
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

static void widen_span(span *s, const cp_wire *wire, const cp_field *field)
{
    if (!s->begin) {
        s->begin = wire->start + field->offset;
    }
    s->end = wire->at;
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
        widen_span(&d->spans[field.number], &wire, &field);
        if (field.number == PROFILE_COMMENT && field.type == CP_WIRE_BYTES) {
            d->counts[PROFILE_COMMENT] += (uint32_t)cp_wire_count_varints(field.data, field.length);
        } else {
            d->counts[field.number]++;
        }
    }
    return !wire.failed;
}

static bool read_string(decoder *d, const cp_field *field)
{
    if (d->string_count == 0 && field->length != 0) {
        return cp_wire_fail(&d->wire, field->offset,
                            "expected string_table[0] to be empty, found %zu byte%s", field->length,
                            field->length == 1 ? "" : "s");
    }
    d->strings[d->string_count++] =
        cp_strings_add(&d->profile->strings, (const char *)field->data, field->length);
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

/* ---- scratch ---- */

/* Makes room for `count` elements, of which the first `used` are kept. */
static void *make_room(scratch *room, size_t used, size_t count, size_t size)
{
    if (count > room->capacity) {
        size_t capacity = count < 64 ? 64 : 2 * count;
        void *larger = cp_heap_alloc(capacity, size);

        memcpy(larger, room->data ? room->data : larger, used * size);
        free(room->data);
        room->data = larger;
        room->capacity = capacity;
    }
    return room->data;
}

/* Copies the first elements into the profile. */
static void *keep(cp_profile *profile, const scratch *from, size_t count, size_t size)
{
    void *kept = cp_pool_words(&profile->pool, count, size);

    if (count) {
        memcpy(kept, from->data, count * size);
    }
    return kept;
}

/* ---- locations ---- */

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

static bool append_line(decoder *d, const cp_field *field, cp_location *location)
{
    uint32_t count = location->line_count;
    cp_line *lines = make_room(&d->lines, count, (size_t)count + 1, sizeof *lines);

    memset(&lines[count], 0, sizeof *lines);
    location->line_count++;
    return read_line(d, field, &lines[count]);
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
               append_line(d, field, location);
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
    cp_field field;
    while (cp_wire_next(&wire, &field)) {
        if (!read_location_field(d, &wire, &field, location, &id)) {
            return false;
        }
    }
    location->id = id;
    location->lines = keep(profile, &d->lines, location->line_count, sizeof(cp_line));
    return !wire.failed && cp_ids_add(&d->locations, &d->wire, outer->offset, id, index);
}

/* ---- samples ---- */

static size_t most_elements(const cp_field *field)
{
    return field->type == CP_WIRE_BYTES ? field->length : 1;
}

static bool read_stack(decoder *d, cp_wire *wire, const cp_field *field, cp_sample *sample)
{
    size_t used = sample->location_count;
    uint32_t *stack = make_room(&d->stack, used, used + most_elements(field), sizeof *stack);

    if (field->type != CP_WIRE_BYTES) {
        return cp_wire_expect(wire, field, CP_WIRE_VARINT, "a location id") &&
               cp_ids_find(&d->locations, wire, field->offset, field->value,
                           &stack[sample->location_count++]);
    }
    cp_wire packed = cp_wire_enter(wire, field);
    uint64_t id;
    while (cp_wire_varint(&packed, &id)) {
        if (!cp_ids_find(&d->locations, &packed, field->offset, id, &stack[used++])) {
            return false;
        }
    }
    sample->location_count = (uint32_t)used;
    return !packed.failed;
}

static bool read_values(decoder *d, cp_wire *wire, const cp_field *field, size_t *count)
{
    int64_t *values = make_room(&d->values, *count, *count + most_elements(field), sizeof *values);

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
        size_t used = sample->label_count;
        cp_label *labels = make_room(&d->labels, used, used + 1, sizeof *labels);
        labels[sample->label_count++] = label;
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
            ok = read_values(d, wire, &field, value_count);
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

    if (!read_sample_fields(d, &wire, sample, &value_count)) {
        return false;
    }
    if (value_count != profile->sample_type_count) {
        return cp_wire_fail(&wire, outer->offset,
                            "expected a sample with %u values (one for each sample type), found "
                            "%zu",
                            profile->sample_type_count, value_count);
    }
    sample->locations = keep(profile, &d->stack, sample->location_count, sizeof(uint32_t));
    sample->values = keep(profile, &d->values, value_count, sizeof(int64_t));
    if (sample->label_count) {
        sample->labels = keep(profile, &d->labels, sample->label_count, sizeof(cp_label));
        cp_profile_sort_labels(profile, sample->labels, sample->label_count);
    }
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

/* Gives whole pages before the field back. */
static void release_before(decoder *d, const cp_field *field)
{
    const size_t step = (size_t)1 << 20, page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *now = (uint8_t *)(uintptr_t)(d->wire.start + field->offset);

    if (d->spent && (size_t)(now - d->spent) >= step) {
        uintptr_t begin = ((uintptr_t)d->spent + page - 1) / page * page;
        uintptr_t end = (uintptr_t)now / page * page;
        madvise((void *)begin, end - begin, MADV_DONTNEED);
        d->spent = (uint8_t *)end;
    }
}

static bool read_spent_sample(decoder *d, const cp_field *field)
{
    release_before(d, field);
    return read_sample(d, field);
}

/* Reads all fields of a number. */
static bool walk(decoder *d, uint64_t number, bool (*read)(decoder *d, const cp_field *field))
{
    cp_wire wire = d->wire;
    cp_field field;

    if (!d->spans[number].begin) {
        return true;
    }
    wire.at = d->spans[number].begin;
    wire.end = d->spans[number].end;
    while (cp_wire_next(&wire, &field)) {
        if (field.number == number && !read(d, &field)) {
            return false;
        }
    }
    return !wire.failed;
}

static bool read_strings(decoder *d)
{
    const cp_wire *wire = &d->wire;

    if (d->counts[PROFILE_STRING] == 0) {
        return cp_wire_fail(&d->wire, (size_t)(wire->end - wire->start),
                            "expected a string_table, found the end of the profile without one");
    }
    d->strings = cp_heap_alloc(d->counts[PROFILE_STRING], sizeof(cp_string));
    cp_strings_expect(&d->profile->strings, d->counts[PROFILE_STRING]);
    return walk(d, PROFILE_STRING, read_string);
}

static bool is_header(uint64_t number)
{
    return number != PROFILE_SAMPLE && number != PROFILE_LOCATION && number != PROFILE_STRING;
}

static bool read_headers(decoder *d)
{
    for (uint64_t number = 1; number < PROFILE_FIELDS; number++) {
        if (is_header(number) && !walk(d, number, read_header)) {
            return false;
        }
    }
    return true;
}

/* Without a type two bytes would do for each sample, and many fit into a file. */
static bool samples_have_types(decoder *d)
{
    return d->counts[PROFILE_SAMPLE] == 0 || d->counts[PROFILE_SAMPLE_TYPE] != 0 ||
           cp_wire_fail(&d->wire, 0, "expected a sample_type, found samples without one");
}

static bool decode(decoder *d)
{
    if (!count_parts(d) || !samples_have_types(d) || !read_strings(d)) {
        return false;
    }
    allocate(d);
    bool ok = read_headers(d) && walk(d, PROFILE_LOCATION, read_location) &&
              walk(d, PROFILE_SAMPLE, read_spent_sample);
    cp_ids_release(&d->mappings);
    cp_ids_release(&d->functions);
    cp_ids_release(&d->locations);
    return ok;
}

static void release(decoder *d)
{
    free(d->strings);
    free(d->stack.data);
    free(d->values.data);
    free(d->labels.data);
    free(d->lines.data);
}

static int run(decoder *d, const uint8_t *data, size_t length, cp_profile **out, cp_error *error)
{
    d->profile = cp_profile_new();
    cp_wire_init(&d->wire, data, length, error);
    bool ok = decode(d);
    release(d);
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
