/* SPDX-License-Identifier: MIT
 *
 * profile_encode.c: see profile_encode.h.
 *
 * The string table is written as it is: the table of a merged profile holds what it uses, no more.
 * Nested messages are built in one scratch buffer each, since their length comes before them.
 *
 * Owns: the scratch buffers, for the time of the call.
 */
#include "profile_encode.h"

#include "profile_model.h"
#include "protobuf.h"

struct encoder {
    const struct cp_profile *profile;
    struct cp_bytes *out;
    struct cp_bytes message; /* the part being built */
    struct cp_bytes nested;  /* a label, a line or a packed array in it */
};

static void close_message(struct encoder *encoder, unsigned field)
{
    cp_bytes_field(encoder->out, field, encoder->message.data, encoder->message.length);
    encoder->message.length = 0;
}

static void close_nested(struct encoder *encoder, unsigned field)
{
    cp_bytes_field(&encoder->message, field, encoder->nested.data, encoder->nested.length);
    encoder->nested.length = 0;
}

static void encode_value_type(struct encoder *encoder, unsigned field, struct cp_value_type type)
{
    cp_bytes_number(&encoder->message, 1, type.type);
    cp_bytes_number(&encoder->message, 2, type.unit);
    close_message(encoder, field);
}

static void encode_label(struct encoder *encoder, const struct cp_label *label)
{
    cp_bytes_number(&encoder->nested, 1, label->key);
    if (label->numeric) {
        cp_bytes_number(&encoder->nested, 3, (uint64_t)label->number);
        cp_bytes_number(&encoder->nested, 4, label->text);
    } else {
        cp_bytes_number(&encoder->nested, 2, label->text);
    }
    close_nested(encoder, 3);
}

static void encode_sample(struct encoder *encoder, const struct cp_sample *sample)
{
    for (uint32_t i = 0; i < sample->location_count; i++)
        cp_bytes_varint(&encoder->nested, (uint64_t)sample->locations[i] + 1);
    if (sample->location_count)
        close_nested(encoder, 1);
    for (uint32_t i = 0; i < encoder->profile->sample_type_count; i++)
        cp_bytes_varint(&encoder->nested, (uint64_t)sample->values[i]);
    close_nested(encoder, 2);
    for (uint32_t i = 0; i < sample->label_count; i++)
        encode_label(encoder, &sample->labels[i]);
    close_message(encoder, 2);
}

static void encode_mapping(struct encoder *encoder, uint32_t index)
{
    const struct cp_mapping *mapping = &encoder->profile->mappings[index];
    struct cp_bytes *message = &encoder->message;

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
    close_message(encoder, 3);
}

static void encode_location(struct encoder *encoder, uint32_t index)
{
    const struct cp_location *location = &encoder->profile->locations[index];

    cp_bytes_number(&encoder->message, 1, (uint64_t)index + 1);
    if (location->mapping != CP_NO_MAPPING)
        cp_bytes_number(&encoder->message, 2, (uint64_t)location->mapping + 1);
    cp_bytes_number(&encoder->message, 3, location->address);
    for (uint32_t i = 0; i < location->line_count; i++) {
        cp_bytes_number(&encoder->nested, 1, (uint64_t)location->lines[i].function + 1);
        cp_bytes_number(&encoder->nested, 2, (uint64_t)location->lines[i].line);
        close_nested(encoder, 4);
    }
    cp_bytes_number(&encoder->message, 5, location->folded);
    close_message(encoder, 4);
}

static void encode_function(struct encoder *encoder, uint32_t index)
{
    const struct cp_function *function = &encoder->profile->functions[index];
    struct cp_bytes *message = &encoder->message;

    cp_bytes_number(message, 1, (uint64_t)index + 1);
    cp_bytes_number(message, 2, function->name);
    cp_bytes_number(message, 3, function->system_name);
    cp_bytes_number(message, 4, function->filename);
    cp_bytes_number(message, 5, (uint64_t)function->start_line);
    close_message(encoder, 5);
}

static void encode_tail(struct encoder *encoder)
{
    const struct cp_profile *profile = encoder->profile;
    struct cp_bytes *out = encoder->out;

    for (uint32_t i = 0; i < profile->strings.count; i++)
        cp_bytes_field(out, 6, profile->strings.entries[i].data,
                       profile->strings.entries[i].length);
    cp_bytes_number(out, 7, profile->drop_frames);
    cp_bytes_number(out, 8, profile->keep_frames);
    cp_bytes_number(out, 9, (uint64_t)profile->time_nanos);
    cp_bytes_number(out, 10, (uint64_t)profile->duration_nanos);
    if (profile->period_type.type || profile->period_type.unit)
        encode_value_type(encoder, 11, profile->period_type);
    cp_bytes_number(out, 12, (uint64_t)profile->period);
    for (uint32_t i = 0; i < profile->comment_count; i++)
        cp_bytes_varint(&encoder->message, profile->comments[i]);
    if (profile->comment_count)
        close_message(encoder, 13);
    cp_bytes_number(out, 14, profile->default_sample_type);
}

void cp_profile_encode(const struct cp_profile *profile, struct cp_bytes *out)
{
    struct encoder encoder = {.profile = profile, .out = out};

    for (uint32_t i = 0; i < profile->sample_type_count; i++)
        encode_value_type(&encoder, 1, profile->sample_types[i]);
    for (uint32_t i = 0; i < profile->sample_count; i++)
        encode_sample(&encoder, &profile->samples[i]);
    for (uint32_t i = 0; i < profile->mapping_count; i++)
        encode_mapping(&encoder, i);
    for (uint32_t i = 0; i < profile->location_count; i++)
        encode_location(&encoder, i);
    for (uint32_t i = 0; i < profile->function_count; i++)
        encode_function(&encoder, i);
    encode_tail(&encoder);
    cp_bytes_release(&encoder.message);
    cp_bytes_release(&encoder.nested);
}
