/* SPDX-License-Identifier: MIT
 *
 * profile_encode.c: see profile_encode.h.
 *
 * The encoder writes the string table unchanged: that of a merged profile has only the strings that
 * the profile uses. The length of a nested message comes before it, so each is built in a scratch
 * buffer.
 *
 * Owns: nothing after the call.
 * Tested by: unit.cmd_merge, fuzz.profile.
 */
#include "profile/profile_encode.h"

#include "profile/profile_model.h"
#include "profile/protobuf.h"

typedef struct encoder {
    const cp_profile *profile;
    cp_bytes *out;
    cp_bytes message; /* the current part of the profile */
    cp_bytes nested;  /* a label, a line or a packed array of that part */
} encoder;

static void close_message(encoder *e, unsigned field)
{
    cp_bytes_field(e->out, field, e->message.data, e->message.length);
    e->message.length = 0;
}

static void close_nested(encoder *e, unsigned field)
{
    cp_bytes_field(&e->message, field, e->nested.data, e->nested.length);
    e->nested.length = 0;
}

static void encode_value_type(encoder *e, unsigned field, cp_value_type type)
{
    cp_bytes_number(&e->message, 1, type.type);
    cp_bytes_number(&e->message, 2, type.unit);
    close_message(e, field);
}

static void encode_label(encoder *e, const cp_label *label)
{
    cp_bytes_number(&e->nested, 1, label->key);
    if (label->numeric) {
        cp_bytes_number(&e->nested, 3, (uint64_t)label->number);
        cp_bytes_number(&e->nested, 4, label->text);
    } else {
        cp_bytes_number(&e->nested, 2, label->text);
    }
    close_nested(e, 3);
}

static void encode_sample(encoder *e, const cp_sample *sample)
{
    for (uint32_t i = 0; i < sample->location_count; i++) {
        cp_bytes_varint(&e->nested, (uint64_t)sample->locations[i] + 1);
    }
    if (sample->location_count) {
        close_nested(e, 1);
    }
    for (uint32_t i = 0; i < e->profile->sample_type_count; i++) {
        cp_bytes_varint(&e->nested, (uint64_t)sample->values[i]);
    }
    close_nested(e, 2);
    for (uint32_t i = 0; i < sample->label_count; i++) {
        encode_label(e, &sample->labels[i]);
    }
    close_message(e, 2);
}

static void encode_mapping(encoder *e, uint32_t index)
{
    const cp_mapping *mapping = &e->profile->mappings[index];
    cp_bytes *message = &e->message;

    cp_bytes_number(message, 1, (uint64_t)index + 1);
    cp_bytes_number(message, 2, mapping->start);
    cp_bytes_number(message, 3, mapping->limit);
    cp_bytes_number(message, 4, mapping->offset);
    cp_bytes_number(message, 5, mapping->file);
    cp_bytes_number(message, 6, mapping->build_id);
    cp_bytes_number(message, 7, mapping->has_functions);
    cp_bytes_number(message, 8, mapping->has_filenames);
    cp_bytes_number(message, 9, mapping->has_line_numbers);
    cp_bytes_number(message, 10, mapping->has_inline_frames);
    close_message(e, 3);
}

static void encode_location(encoder *e, uint32_t index)
{
    const cp_location *location = &e->profile->locations[index];

    cp_bytes_number(&e->message, 1, (uint64_t)index + 1);
    if (location->mapping != CP_NO_MAPPING) {
        cp_bytes_number(&e->message, 2, (uint64_t)location->mapping + 1);
    }
    cp_bytes_number(&e->message, 3, location->address);
    for (uint32_t i = 0; i < location->line_count; i++) {
        cp_bytes_number(&e->nested, 1, (uint64_t)location->lines[i].function + 1);
        cp_bytes_number(&e->nested, 2, (uint64_t)location->lines[i].line);
        cp_bytes_number(&e->nested, 3, (uint64_t)location->lines[i].column);
        close_nested(e, 4);
    }
    cp_bytes_number(&e->message, 5, location->folded);
    close_message(e, 4);
}

static void encode_function(encoder *e, uint32_t index)
{
    const cp_function *function = &e->profile->functions[index];
    cp_bytes *message = &e->message;

    cp_bytes_number(message, 1, (uint64_t)index + 1);
    cp_bytes_number(message, 2, function->name);
    cp_bytes_number(message, 3, function->system_name);
    cp_bytes_number(message, 4, function->filename);
    cp_bytes_number(message, 5, (uint64_t)function->start_line);
    close_message(e, 5);
}

static void encode_tail(encoder *e)
{
    const cp_profile *profile = e->profile;
    cp_bytes *out = e->out;

    for (uint32_t i = 0; i < profile->strings.count; i++) {
        cp_bytes_field(out, 6, profile->strings.entries[i].data,
                       profile->strings.entries[i].length);
    }
    cp_bytes_number(out, 7, profile->drop_frames);
    cp_bytes_number(out, 8, profile->keep_frames);
    cp_bytes_number(out, 9, (uint64_t)profile->time_nanos);
    cp_bytes_number(out, 10, (uint64_t)profile->duration_nanos);
    if (profile->period_type.type || profile->period_type.unit) {
        encode_value_type(e, 11, profile->period_type);
    }
    cp_bytes_number(out, 12, (uint64_t)profile->period);
    for (uint32_t i = 0; i < profile->comment_count; i++) {
        cp_bytes_varint(&e->message, profile->comments[i]);
    }
    if (profile->comment_count) {
        close_message(e, 13);
    }
    cp_bytes_number(out, 14, profile->default_sample_type);
    cp_bytes_number(out, 15, profile->doc_url);
}

void cp_profile_encode(const cp_profile *profile, cp_bytes *out)
{
    encoder e = {.profile = profile, .out = out};

    for (uint32_t i = 0; i < profile->sample_type_count; i++) {
        encode_value_type(&e, 1, profile->sample_types[i]);
    }
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        encode_sample(&e, &profile->samples[i]);
    }
    for (uint32_t i = 0; i < profile->mapping_count; i++) {
        encode_mapping(&e, i);
    }
    for (uint32_t i = 0; i < profile->location_count; i++) {
        encode_location(&e, i);
    }
    for (uint32_t i = 0; i < profile->function_count; i++) {
        encode_function(&e, i);
    }
    encode_tail(&e);
    cp_bytes_release(&e.message);
    cp_bytes_release(&e.nested);
}
