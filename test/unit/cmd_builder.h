/* SPDX-License-Identifier: MIT
 *
 * cmd_builder.h: small profiles for the unit tests of cpprof, as bytes and as models.
 */
#ifndef CMD_BUILDER_H
#define CMD_BUILDER_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/message.h"
#include "profile/profile_model.h"
#include "profile/protobuf.h"
#include "src/encode/wire.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- bytes ---- */

/* Appends the field that `encoded` has, and releases that. */
static inline void put_encoded(cp_bytes *out, pp_buffer *encoded)
{
    cp_bytes_append(out, encoded->data, encoded->size);
    pp_buffer_release(encoded);
}

static inline void put_number(cp_bytes *out, unsigned field, uint64_t value)
{
    pp_buffer encoded = PP_BUFFER_INIT;

    pp_wire_number_if(&encoded, field, value);
    put_encoded(out, &encoded);
}

static inline void put_field(cp_bytes *out, unsigned field, const void *data, size_t length)
{
    pp_buffer encoded = PP_BUFFER_INIT;

    pp_wire_bytes(&encoded, field, data, length);
    put_encoded(out, &encoded);
}

static inline void put_message(cp_bytes *out, unsigned field, cp_bytes *message)
{
    put_field(out, field, message->data, message->length);
    message->length = 0;
}

static inline void put_text(cp_bytes *out, const char *text)
{
    put_field(out, 6, text, strlen(text));
}

/* Appends the bytes of a profile with one sample of 7 ns in work(), which main() called, in a
 * program called /bin/app: locations 1 (work) and 2 (main), functions 1 and 2, mapping 1. */
static inline void put_small_profile(cp_bytes *out)
{
    static const char *const strings[] = {"", "cpu", "nanoseconds", "work", "main", "/bin/app"};
    cp_bytes message = {0}, nested = {0};

    put_number(&message, 1, 1);
    put_number(&message, 2, 2);
    put_message(out, 1, &message);
    put_field(&message, 1, "\1\2", 2);
    put_field(&message, 2, "\7", 1);
    put_message(out, 2, &message);
    put_number(&message, 1, 1);
    put_number(&message, 2, 0x1000);
    put_number(&message, 3, 0x3000);
    put_number(&message, 5, 5);
    put_message(out, 3, &message);
    for (unsigned i = 1; i <= 2; i++) {
        put_number(&message, 1, i);
        put_number(&message, 2, 1);
        put_number(&message, 3, UINT64_C(0x1000) * i);
        put_number(&nested, 1, i);
        put_number(&nested, 2, UINT64_C(10) * i);
        put_message(&message, 4, &nested);
        put_message(out, 4, &message);
    }
    for (unsigned i = 1; i <= 2; i++) {
        put_number(&message, 1, i);
        put_number(&message, 2, 2 + i);
        put_number(&message, 3, 2 + i);
        put_message(out, 5, &message);
    }
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        put_text(out, strings[i]);
    }
    cp_bytes_release(&message);
    cp_bytes_release(&nested);
}

/* ---- texts ---- */

/* A reader of one format. */
typedef int text_decoder(const uint8_t *data, size_t length, cp_profile **out, cp_error *error);

static inline cp_profile *decode_text(text_decoder *decode, const char *text)
{
    cp_profile *profile;
    cp_error error;

    if (decode((const uint8_t *)text, strlen(text), &profile, &error) < 0) {
        fail_msg("%s", error.text);
    }
    return profile;
}

/* The text is refused, by an error that begins in this way. */
static inline void expect_refusal(text_decoder *decode, const char *text, const char *expected)
{
    cp_profile *profile;
    cp_error error;

    assert_int_equal(decode((const uint8_t *)text, strlen(text), &profile, &error), -1);
    if (strncmp(error.text, expected, strlen(expected)) != 0) {
        fail_msg("expected '%s', found '%s'", expected, error.text);
    }
}

/* ---- models ---- */

/* Makes an empty profile of that type, with room for the parts that a test adds. */
static inline cp_profile *new_model(const char *type, const char *unit)
{
    enum { ROOM = 64 };
    cp_profile *profile = cp_profile_new();
    cp_pool *pool = &profile->pool;

    profile->sample_types = CP_POOL_ARRAY(pool, cp_value_type, 1);
    profile->sample_types[0].type = cp_strings_put(&profile->strings, type);
    profile->sample_types[0].unit = cp_strings_put(&profile->strings, unit);
    profile->sample_type_count = 1;
    profile->samples = CP_POOL_ARRAY(pool, cp_sample, ROOM);
    profile->mappings = CP_POOL_ARRAY(pool, cp_mapping, ROOM);
    profile->locations = CP_POOL_ARRAY(pool, cp_location, ROOM);
    profile->functions = CP_POOL_ARRAY(pool, cp_function, ROOM);
    return profile;
}

/* Returns the location of a function of that name; equal names have one location. "inner<outer" is
 * `inner` inlined into `outer`; "" has no function. */
static inline uint32_t add_location(cp_profile *profile, const char *names)
{
    cp_location *location = &profile->locations[profile->location_count];
    const char *at = names;

    for (uint32_t i = 0; i < profile->location_count; i++) {
        if (profile->locations[i].address == cp_hash_bytes(names, strlen(names), 0)) {
            return i;
        }
    }
    location->address = cp_hash_bytes(names, strlen(names), 0);
    location->mapping = CP_NO_MAPPING;
    location->lines = CP_POOL_ARRAY(&profile->pool, cp_line, 8);
    while (*at) {
        size_t length = strcspn(at, "<");
        cp_function *function = &profile->functions[profile->function_count];
        function->name = cp_strings_add(&profile->strings, at, length);
        function->system_name = function->name;
        location->lines[location->line_count++].function = profile->function_count++;
        at += length + (at[length] == '<');
    }
    return profile->location_count++;
}

/* Adds a sample of `value`; the stack is written "leaf caller root". */
static inline void add_sample(cp_profile *profile, const char *stack, int64_t value)
{
    cp_sample *sample = &profile->samples[profile->sample_count++];
    char name[128];

    sample->locations = CP_POOL_ARRAY(&profile->pool, uint32_t, 32);
    sample->values = CP_POOL_ARRAY(&profile->pool, int64_t, 1);
    sample->values[0] = value;
    while (*stack) {
        size_t length = strcspn(stack, " ");
        snprintf(name, sizeof name, "%.*s", (int)length, stack);
        sample->locations[sample->location_count++] = add_location(profile, name);
        stack += length + (stack[length] == ' ');
    }
}

/* Returns a sample's stack as "leaf caller root", with the outermost name of each location, in a
 * static buffer. */
static inline const char *stack_of(const cp_profile *profile, uint32_t index)
{
    static char text[1024];
    const cp_sample *sample = &profile->samples[index];
    size_t length = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < sample->location_count; i++) {
        const cp_location *location = &profile->locations[sample->locations[i]];
        for (uint32_t line = 0; line < location->line_count; line++) {
            cp_string name = profile->functions[location->lines[line].function].name;
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%s",
                                       line ? "<"
                                       : i  ? " "
                                            : "",
                                       cp_profile_text(profile, name));
        }
    }
    return text;
}

#endif
