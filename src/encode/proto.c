/* SPDX-License-Identifier: MIT
 *
 * proto.c: encodes a finished profile as gzipped profile.proto.
 *
 *   samples -> location ids -> [sorted by address] -> mapping of each -> names and lines of each
 *           -> message in one buffer -> gzip -> writer
 *
 * If the profile hides the allocator, the names may show that the samples must be encoded again
 * (encode/location_selection.h).
 *
 * The encoder builds the message in memory before it writes the first byte: the message is small
 * beside its tables, and an encoder that runs out of memory has then written nothing. One pass
 * numbers the frames of the samples and appends the samples; the messages about locations follow.
 *
 * Message: profile.proto of github.com/google/pprof. Comments at the code name the rules that
 * readers rely on.
 *
 * Zone: NORMAL, and the fatal-signal writer (no malloc, no stdio, no locks).
 * Owns: the message buffer, for the duration of the call.
 */
#include "encode/proto.h"

#include "base/buffer.h"
#include "base/utf8.h"
#include "encode/function_table.h"
#include "encode/gzip.h"
#include "encode/location_names.h"
#include "encode/location_selection.h"
#include "encode/location_table.h"
#include "encode/string_table.h"
#include "encode/wire.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum { /* field numbers of profile.proto */
       PROFILE_SAMPLE_TYPE = 1,
       PROFILE_SAMPLE = 2,
       PROFILE_MAPPING = 3,
       PROFILE_LOCATION = 4,
       PROFILE_FUNCTION = 5,
       PROFILE_STRING_TABLE = 6,
       PROFILE_DROP_FRAMES = 7,
       PROFILE_TIME_NANOS = 9,
       PROFILE_DURATION_NANOS = 10,
       PROFILE_PERIOD_TYPE = 11,
       PROFILE_PERIOD = 12,
       PROFILE_COMMENT = 13,
       PROFILE_DEFAULT_SAMPLE_TYPE = 14,
       VALUE_TYPE_TYPE = 1,
       VALUE_TYPE_UNIT = 2,
       SAMPLE_LOCATION_ID = 1,
       SAMPLE_VALUE = 2,
       SAMPLE_LABEL = 3,
       LABEL_KEY = 1,
       LABEL_STR = 2,
       LABEL_NUM = 3,
       LABEL_NUM_UNIT = 4,
       MAPPING_ID = 1,
       MAPPING_MEMORY_START = 2,
       MAPPING_MEMORY_LIMIT = 3,
       MAPPING_FILE_OFFSET = 4,
       MAPPING_FILENAME = 5,
       MAPPING_BUILD_ID = 6,
       MAPPING_HAS_FUNCTIONS = 7,
       MAPPING_HAS_FILENAMES = 8,
       MAPPING_HAS_LINE_NUMBERS = 9,
       MAPPING_HAS_INLINE_FRAMES = 10,
       LOCATION_ID = 1,
       LOCATION_MAPPING_ID = 2,
       LOCATION_ADDRESS = 3,
       LOCATION_LINE = 4,
       LINE_FUNCTION_ID = 1,
       LINE_LINE = 2,
       FUNCTION_ID = 1,
       FUNCTION_NAME = 2,
       FUNCTION_SYSTEM_NAME = 3,
       FUNCTION_FILENAME = 4,
       FUNCTION_START_LINE = 5
};

/* Speed matters more than size: level 6, the usual one, takes twice as long for a
 * twentieth less. */
enum { GZIP_LEVEL = 1 };

static const char deleted_suffix[] = " (deleted)"; /* the kernel appends it in /proc/self/maps */
static const char unknown_mapping[] = "[unknown]"; /* brackets: readers do not search for a file */
static const char replacement[] = "\xef\xbf\xbd";  /* U+FFFD, in place of invalid UTF-8 */

typedef struct encoder {
    const pp_profile *profile;
    pp_arena *arena;
    pp_buffer out;
    pp_string_table strings;
    pp_function_table functions;
    pp_location_table locations;
    pp_location_names names;
    pp_location_selection selection;
    bool failed; /* sticky: no memory for an array outside of these parts */
} encoder;

static bool has_failed(const encoder *e)
{
    return e->failed || e->out.failed || e->strings.failed || e->functions.failed ||
           e->locations.failed;
}

static uint32_t text_index(encoder *e, const char *text)
{
    return text == NULL ? 0 : pp_string_table_index(&e->strings, text, strlen(text));
}

/* ---- Samples ------------------------------------------------------------------------------- */

static void encode_value_type(encoder *e, uint32_t field, const pp_value_type *type)
{
    size_t message = pp_wire_open(&e->out, field);
    pp_wire_number_if(&e->out, VALUE_TYPE_TYPE, text_index(e, type->type));
    pp_wire_number_if(&e->out, VALUE_TYPE_UNIT, text_index(e, type->unit));
    pp_wire_close(&e->out, message);
}

static uint32_t first_frame(encoder *e, const pp_profile_sample *sample)
{
    if (!e->profile->hide_allocators) {
        return 0;
    }
    return e->selection.id != NULL ? pp_location_selection_first(&e->selection, sample)
                                   : pp_shown_frames_guess(sample);
}

static inline uint32_t number_of(encoder *e, uintptr_t pc)
{
    return pp_location_table_id(&e->locations, pc == 0 ? 0 : pc - 1);
}

/* The hot loop of the encoder. */
static uint8_t *put_numbers(encoder *e, const uintptr_t *pc, uint32_t count, uint8_t *at)
{
    for (uint32_t i = 0; i < count; i++) {
        at = pp_varint_put(at, number_of(e, pc[i]));
    }
    return at;
}

static uint8_t *put_ids(encoder *e, const uintptr_t *pc, uint32_t count, uint8_t *at)
{
    for (uint32_t i = 0; i < count; i++) {
        at = pp_varint_put(at, pp_location_selection_id(&e->selection, number_of(e, pc[i])));
    }
    return at;
}

/* Readers drop a sample without a location, and its values with it. So an empty stack gets the
 * address 0. */
static void encode_stack(encoder *e, const pp_profile_sample *sample)
{
    static const uintptr_t address_0[1];
    uint32_t first = first_frame(e, sample);
    uint32_t count = sample->depth > 0 ? sample->depth - first : 1;
    const uintptr_t *pc = sample->depth > 0 ? sample->pc + first : address_0;
    size_t packed = pp_wire_open(&e->out, SAMPLE_LOCATION_ID);
    uint8_t *at = pp_buffer_reserve(&e->out, (size_t)count * PP_VARINT_MAX);
    if (at == NULL) {
        return;
    }
    at = e->selection.id == NULL ? put_numbers(e, pc, count, at) : put_ids(e, pc, count, at);
    e->out.size = (size_t)(at - e->out.data);
    pp_wire_close(&e->out, packed);
}

/* Readers cannot distinguish an empty text from the number 0, and see no such label; this holds for
 * profiles of Go, too. */
static void encode_label(encoder *e, const pp_sample_label *label)
{
    if (label->text != NULL && *label->text == '\0') {
        return;
    }
    size_t message = pp_wire_open(&e->out, SAMPLE_LABEL);
    pp_wire_number_if(&e->out, LABEL_KEY, text_index(e, label->key));
    if (label->text != NULL) {
        pp_wire_number_if(&e->out, LABEL_STR, text_index(e, label->text));
    } else {
        pp_wire_number_if(&e->out, LABEL_NUM, (uint64_t)label->number);
        pp_wire_number_if(&e->out, LABEL_NUM_UNIT, text_index(e, label->unit));
    }
    pp_wire_close(&e->out, message);
}

static void encode_samples(encoder *e)
{
    const pp_profile *profile = e->profile;
    for (size_t i = 0; i < profile->sample_count && !has_failed(e); i++) {
        const pp_profile_sample *sample = &profile->samples[i];
        size_t message = pp_wire_open(&e->out, PROFILE_SAMPLE);
        encode_stack(e, sample);
        size_t packed = pp_wire_open(&e->out, SAMPLE_VALUE);
        for (uint32_t k = 0; k < profile->sample_type_count; k++) {
            pp_wire_varint(&e->out, (uint64_t)sample->value[k]);
        }
        pp_wire_close(&e->out, packed);
        for (uint32_t k = 0; k < sample->label_count; k++) {
            encode_label(e, &sample->labels[k]);
        }
        pp_wire_close(&e->out, message);
    }
}

/* ---- Locations and functions --------------------------------------------------------------- */

static void find_names(encoder *e)
{
    if (!has_failed(e) &&
        pp_location_names_find(e->profile, &e->locations, e->arena, &e->names) != 0) {
        e->failed = true;
    }
}

/* Whether the encoded samples have the right frames. */
static bool is_selected(encoder *e)
{
    if (!e->profile->hide_allocators || has_failed(e)) {
        return true;
    }
    e->failed = pp_location_selection_decide(&e->selection, e->profile, &e->locations, &e->names,
                                             e->arena) != 0;
    return e->failed || e->selection.id == NULL;
}

static void encode_and_name_samples(encoder *e)
{
    size_t start = e->out.size;
    encode_samples(e);
    e->selection.count = e->locations.count;
    if (e->profile->hide_allocators) {
        pp_location_selection_begin(&e->selection, e->profile, &e->locations);
    }
    find_names(e);
    if (!is_selected(e)) {
        e->out.size = start;
        encode_samples(e);
    }
}

/* Numbers the functions of which only the name is known, in the order of their addresses. */
static void name_locations(encoder *e)
{
    const char *last_name = NULL; /* adjacent locations share a function, and then its text */
    uint32_t last_id = 0;
    for (uint32_t i = 0; i < e->locations.count; i++) {
        uint32_t index = e->names.ascending[i];
        const char *name = e->names.symbols[index].name;
        if (name == NULL || e->names.lines[index].count > 0 ||
            !pp_location_selection_has(&e->selection, index)) {
            continue;
        }
        if (name != last_name) {
            last_name = name;
            last_id =
                pp_function_table_id(&e->functions, &(pp_function){.name = text_index(e, name)});
        }
        e->locations.locations[index].function = last_id;
    }
}

static void encode_line(encoder *e, const pp_line *line)
{
    const pp_function function = {text_index(e, line->function), text_index(e, line->file),
                                  line->start_line};
    size_t message = pp_wire_open(&e->out, LOCATION_LINE);
    pp_wire_number(&e->out, LINE_FUNCTION_ID, pp_function_table_id(&e->functions, &function));
    pp_wire_number_if(&e->out, LINE_LINE, line->line);
    pp_wire_close(&e->out, message);
}

static void encode_location(encoder *e, uint32_t id, uint32_t index)
{
    const pp_location *location = &e->locations.locations[index];
    size_t message = pp_wire_open(&e->out, PROFILE_LOCATION);
    pp_wire_number(&e->out, LOCATION_ID, id);
    pp_wire_number(&e->out, LOCATION_MAPPING_ID, location->mapping);
    pp_wire_number_if(&e->out, LOCATION_ADDRESS, location->address);
    if (location->function != 0) {
        size_t line = pp_wire_open(&e->out, LOCATION_LINE);
        pp_wire_number(&e->out, LINE_FUNCTION_ID, location->function);
        pp_wire_close(&e->out, line);
    }
    uint32_t left_out = e->selection.id != NULL ? e->selection.inlined[index] : 0;
    for (uint32_t k = left_out; k < e->names.lines[index].count; k++) {
        encode_line(e, &e->names.lines[index].line[k]);
    }
    pp_wire_close(&e->out, message);
}

static void encode_locations(encoder *e)
{
    const pp_location_selection *selection = &e->selection;
    for (uint32_t i = 0; i < selection->count; i++) {
        encode_location(e, i + 1, selection->id != NULL ? selection->index[i] : i);
    }
}

static void encode_functions(encoder *e)
{
    for (uint32_t i = 0; i < e->functions.count; i++) {
        const pp_function *function = &e->functions.functions[i];
        size_t message = pp_wire_open(&e->out, PROFILE_FUNCTION);
        pp_wire_number(&e->out, FUNCTION_ID, i + 1);
        pp_wire_number(&e->out, FUNCTION_NAME, function->name);
        pp_wire_number(&e->out, FUNCTION_SYSTEM_NAME, function->name);
        pp_wire_number_if(&e->out, FUNCTION_FILENAME, function->file);
        pp_wire_number_if(&e->out, FUNCTION_START_LINE, function->start_line);
        pp_wire_close(&e->out, message);
    }
}

/* ---- Mappings ------------------------------------------------------------------------------ */

static char *put_hex(char *to, uint64_t value, unsigned digits)
{
    while (digits-- > 0) {
        *to++ = "0123456789abcdef"[value >> (4 * digits) & 15];
    }
    return to;
}

/*
 * Returns the name by which readers identify a mapping. Code without a file gets a name with its
 * address: readers merge two nameless mappings of equal size, and join a nameless mapping to its
 * neighbour.
 */
static uint32_t filename_index(encoder *e, const pp_mapping *mapping)
{
    size_t length = mapping->path == NULL ? 0 : strlen(mapping->path);
    size_t suffix = sizeof(deleted_suffix) - 1;
    if (length > suffix && memcmp(mapping->path + length - suffix, deleted_suffix, suffix) == 0) {
        length -= suffix;
    }
    if (length > 0) {
        return pp_string_table_index(&e->strings, mapping->path, length);
    }

    char name[sizeof("[anon 0123456789abcdef]")] = "[anon ";
    char *end = put_hex(name + strlen(name), mapping->start, 16);
    *end = ']';
    char *copy = pp_arena_text(e->arena, name, sizeof(name) - 1);
    e->failed |= copy == NULL;
    return text_index(e, copy);
}

static uint32_t build_id_index(encoder *e, const pp_mapping *mapping)
{
    char hex[2 * PP_BUILD_ID_MAX];
    char *end = hex;
    for (size_t i = 0; i < mapping->build_id_size && i < PP_BUILD_ID_MAX; i++) {
        end = put_hex(end, mapping->build_id[i], 2);
    }
    if (end == hex) {
        return 0;
    }
    char *copy = pp_arena_text(e->arena, hex, (size_t)(end - hex));
    e->failed |= copy == NULL;
    return text_index(e, copy);
}

/*
 * Readers take each of these flags for "nothing is left to find": go tool pprof, pprof and
 * Pyroscope leave such a mapping alone. With only the names of a symbol table none is set, so that
 * a reader that has the file adds lines. All are set if the file's debug information was read,
 * although some locations have no line: _start, which is linked to every program, never has one
 * (docs/READERS.md).
 */
static void encode_completeness(encoder *e, bool complete)
{
    pp_wire_number_if(&e->out, MAPPING_HAS_FUNCTIONS, complete);
    pp_wire_number_if(&e->out, MAPPING_HAS_FILENAMES, complete);
    pp_wire_number_if(&e->out, MAPPING_HAS_LINE_NUMBERS, complete);
    pp_wire_number_if(&e->out, MAPPING_HAS_INLINE_FRAMES, complete);
}

static void encode_mappings(encoder *e)
{
    for (size_t i = 0; i < e->profile->mapping_count; i++) {
        const pp_mapping *mapping = &e->profile->mappings[i];
        size_t message = pp_wire_open(&e->out, PROFILE_MAPPING);
        pp_wire_number(&e->out, MAPPING_ID, i + 1);
        pp_wire_number_if(&e->out, MAPPING_MEMORY_START, mapping->start);
        pp_wire_number_if(&e->out, MAPPING_MEMORY_LIMIT, mapping->limit);
        pp_wire_number_if(&e->out, MAPPING_FILE_OFFSET, mapping->offset);
        pp_wire_number_if(&e->out, MAPPING_FILENAME, filename_index(e, mapping));
        pp_wire_number_if(&e->out, MAPPING_BUILD_ID, build_id_index(e, mapping));
        encode_completeness(e, e->names.has_lines[i]);
        pp_wire_close(&e->out, message);
    }
    if (e->names.unknown_id != 0) {
        size_t message = pp_wire_open(&e->out, PROFILE_MAPPING);
        pp_wire_number(&e->out, MAPPING_ID, e->names.unknown_id);
        pp_wire_number(&e->out, MAPPING_FILENAME, text_index(e, unknown_mapping));
        pp_wire_close(&e->out, message);
    }
}

/* ---- Texts --------------------------------------------------------------------------------- */

/* How many bytes of ASCII the text begins with, by words: nearly always all but the last ones. */
static size_t ascii_prefix(const uint8_t *text, size_t length)
{
    uint64_t word = 0;
    size_t at = 0;
    while (length - at >= sizeof word) {
        memcpy(&word, text + at, sizeof word);
        if ((word & UINT64_C(0x8080808080808080)) != 0) {
            break;
        }
        at += sizeof word;
    }
    return at;
}

static size_t valid_prefix(const uint8_t *text, size_t length)
{
    size_t valid = ascii_prefix(text, length);
    while (valid < length) {
        size_t size = pp_utf8_length(text + valid, length - valid);
        if (size == 0) {
            break;
        }
        valid += size;
    }
    return valid;
}

static void encode_text(encoder *e, const pp_string *string)
{
    const uint8_t *text = (const uint8_t *)string->text;
    size_t length = string->length;
    size_t valid = valid_prefix(text, length);
    if (valid == length) {
        pp_wire_bytes(&e->out, PROFILE_STRING_TABLE, text, length);
        return;
    }
    size_t message = pp_wire_open(&e->out, PROFILE_STRING_TABLE);
    while (true) {
        pp_buffer_append(&e->out, text, valid);
        if (valid == length) {
            break;
        }
        pp_buffer_append(&e->out, replacement, sizeof(replacement) - 1);
        text += valid + 1;
        length -= valid + 1;
        valid = valid_prefix(text, length);
    }
    pp_wire_close(&e->out, message);
}

/* ---- The message --------------------------------------------------------------------------- */

static void encode_message(encoder *e)
{
    const pp_profile *profile = e->profile;
    for (uint32_t i = 0; i < profile->sample_type_count; i++) {
        encode_value_type(e, PROFILE_SAMPLE_TYPE, &profile->sample_type[i]);
    }
    encode_and_name_samples(e);
    if (has_failed(e)) {
        return;
    }
    name_locations(e);
    if (has_failed(e)) {
        return;
    }
    encode_mappings(e);
    encode_locations(e);
    encode_functions(e);

    pp_wire_number_if(&e->out, PROFILE_DROP_FRAMES, text_index(e, profile->drop_frames));
    pp_wire_number(&e->out, PROFILE_TIME_NANOS, (uint64_t)profile->time_ns);
    pp_wire_number_if(&e->out, PROFILE_DURATION_NANOS, (uint64_t)profile->duration_ns);
    encode_value_type(e, PROFILE_PERIOD_TYPE, &profile->period_type);
    pp_wire_number_if(&e->out, PROFILE_PERIOD, (uint64_t)profile->period);
    for (size_t i = 0; i < profile->comment_count; i++) {
        pp_wire_number(&e->out, PROFILE_COMMENT, text_index(e, profile->comments[i]));
    }
    pp_wire_number_if(&e->out, PROFILE_DEFAULT_SAMPLE_TYPE,
                      text_index(e, profile->default_sample_type));

    for (uint32_t i = 0; i < e->strings.count; i++) {
        encode_text(e, &e->strings.strings[i]);
    }
}

int pp_proto_encode(const pp_profile *profile, pp_arena *arena, pprof_writer writer)
{
    encoder e = {.profile = profile, .arena = arena, .out = PP_BUFFER_INIT};
    int error = -ENOMEM;

    pp_string_table_init(&e.strings, arena);
    pp_function_table_init(&e.functions, arena);
    pp_location_table_init(&e.locations, arena);
    if (has_failed(&e)) {
        goto out;
    }
    encode_message(&e);
    if (has_failed(&e)) {
        goto out;
    }

    pp_gzip *gzip = pp_gzip_new(arena, writer, GZIP_LEVEL);
    if (gzip == NULL) {
        goto out;
    }
    pprof_writer compressed = pp_gzip_writer(gzip);
    compressed.write(compressed.ctx, e.out.data, e.out.size);
    error = pp_gzip_finish(gzip);
out:
    pp_buffer_release(&e.out);
    return error;
}

static int append(void *context, const void *data, size_t length)
{
    pp_buffer *buffer = context;
    pp_buffer_append(buffer, data, length);
    return buffer->failed ? -ENOMEM : 0;
}

int pp_proto_encode_into(const pp_profile *profile, pp_arena *arena, pp_buffer *encoded)
{
    return pp_proto_encode(profile, arena, (pprof_writer){append, encoded});
}
