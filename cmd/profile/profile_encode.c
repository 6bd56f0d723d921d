/* SPDX-License-Identifier: MIT
 *
 * profile_encode.c: see profile_encode.h.
 *
 * The encoder writes the string table unchanged: that of a merged profile has only the strings that
 * the profile uses.
 *
 * Owns: nothing after the call.
 * Tested by: unit.cmd_merge, fuzz.profile.
 */
#include "profile/profile_encode.h"

#include "base/pool.h"
#include "profile/profile_model.h"
#include "src/encode/wire.h"

static void encode_value_type(pp_buffer *out, uint32_t field, cp_value_type type)
{
    size_t opened = pp_wire_open(out, field);

    pp_wire_number_if(out, 1, type.type);
    pp_wire_number_if(out, 2, type.unit);
    pp_wire_close(out, opened);
}

static void encode_label(pp_buffer *out, const cp_label *label)
{
    size_t opened = pp_wire_open(out, 3);

    pp_wire_number_if(out, 1, label->key);
    if (label->numeric) {
        pp_wire_number_if(out, 3, (uint64_t)label->number);
        pp_wire_number_if(out, 4, label->text);
    } else {
        pp_wire_number_if(out, 2, label->text);
    }
    pp_wire_close(out, opened);
}

static void encode_sample(pp_buffer *out, const cp_profile *profile, const cp_sample *sample)
{
    size_t opened = pp_wire_open(out, 2), packed;

    if (sample->location_count) {
        packed = pp_wire_open(out, 1);
        for (uint32_t i = 0; i < sample->location_count; i++) {
            pp_wire_varint(out, (uint64_t)sample->locations[i] + 1);
        }
        pp_wire_close(out, packed);
    }
    packed = pp_wire_open(out, 2);
    for (uint32_t i = 0; i < profile->sample_type_count; i++) {
        pp_wire_varint(out, (uint64_t)sample->values[i]);
    }
    pp_wire_close(out, packed);
    for (uint32_t i = 0; i < sample->label_count; i++) {
        encode_label(out, &sample->labels[i]);
    }
    pp_wire_close(out, opened);
}

static void encode_mapping(pp_buffer *out, const cp_mapping *mapping, uint64_t id)
{
    size_t opened = pp_wire_open(out, 3);

    pp_wire_number(out, 1, id);
    pp_wire_number_if(out, 2, mapping->start);
    pp_wire_number_if(out, 3, mapping->limit);
    pp_wire_number_if(out, 4, mapping->offset);
    pp_wire_number_if(out, 5, mapping->file);
    pp_wire_number_if(out, 6, mapping->build_id);
    pp_wire_number_if(out, 7, mapping->has_functions);
    pp_wire_number_if(out, 8, mapping->has_filenames);
    pp_wire_number_if(out, 9, mapping->has_line_numbers);
    pp_wire_number_if(out, 10, mapping->has_inline_frames);
    pp_wire_close(out, opened);
}

static void encode_line(pp_buffer *out, const cp_line *line)
{
    size_t opened = pp_wire_open(out, 4);

    pp_wire_number(out, 1, (uint64_t)line->function + 1);
    pp_wire_number_if(out, 2, (uint64_t)line->line);
    pp_wire_number_if(out, 3, (uint64_t)line->column);
    pp_wire_close(out, opened);
}

static void encode_location(pp_buffer *out, const cp_location *location, uint64_t id)
{
    size_t opened = pp_wire_open(out, 4);

    pp_wire_number(out, 1, id);
    if (location->mapping != CP_NO_MAPPING) {
        pp_wire_number(out, 2, (uint64_t)location->mapping + 1);
    }
    pp_wire_number_if(out, 3, location->address);
    for (uint32_t i = 0; i < location->line_count; i++) {
        encode_line(out, &location->lines[i]);
    }
    pp_wire_number_if(out, 5, location->folded);
    pp_wire_close(out, opened);
}

static void encode_function(pp_buffer *out, const cp_function *function, uint64_t id)
{
    size_t opened = pp_wire_open(out, 5);

    pp_wire_number(out, 1, id);
    pp_wire_number_if(out, 2, function->name);
    pp_wire_number_if(out, 3, function->system_name);
    pp_wire_number_if(out, 4, function->filename);
    pp_wire_number_if(out, 5, (uint64_t)function->start_line);
    pp_wire_close(out, opened);
}

static void encode_tail(pp_buffer *out, const cp_profile *profile)
{
    for (uint32_t i = 0; i < profile->strings.count; i++) {
        pp_wire_bytes(out, 6, profile->strings.entries[i].data, profile->strings.entries[i].length);
    }
    pp_wire_number_if(out, 7, profile->drop_frames);
    pp_wire_number_if(out, 8, profile->keep_frames);
    pp_wire_number_if(out, 9, (uint64_t)profile->time_nanos);
    pp_wire_number_if(out, 10, (uint64_t)profile->duration_nanos);
    if (profile->period_type.type || profile->period_type.unit) {
        encode_value_type(out, 11, profile->period_type);
    }
    pp_wire_number_if(out, 12, (uint64_t)profile->period);
    if (profile->comment_count) {
        size_t packed = pp_wire_open(out, 13);
        for (uint32_t i = 0; i < profile->comment_count; i++) {
            pp_wire_varint(out, profile->comments[i]);
        }
        pp_wire_close(out, packed);
    }
    pp_wire_number_if(out, 14, profile->default_sample_type);
    pp_wire_number_if(out, 15, profile->doc_url);
}

void cp_profile_encode(const cp_profile *profile, pp_buffer *out)
{
    for (uint32_t i = 0; i < profile->sample_type_count; i++) {
        encode_value_type(out, 1, profile->sample_types[i]);
    }
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        encode_sample(out, profile, &profile->samples[i]);
    }
    for (uint32_t i = 0; i < profile->mapping_count; i++) {
        encode_mapping(out, &profile->mappings[i], (uint64_t)i + 1);
    }
    for (uint32_t i = 0; i < profile->location_count; i++) {
        encode_location(out, &profile->locations[i], (uint64_t)i + 1);
    }
    for (uint32_t i = 0; i < profile->function_count; i++) {
        encode_function(out, &profile->functions[i], (uint64_t)i + 1);
    }
    encode_tail(out, profile);
    if (out->failed) {
        cp_out_of_memory();
    }
}
