/* SPDX-License-Identifier: MIT
 *
 * perf_script.c: reads what `perf script` prints.
 *
 *   COMM PID/TID [CPU] TIME: PERIOD EVENT:
 *           ADDRESS SYMBOL+OFFSET (FILE)          the leaf first
 *           ADDRESS SYMBOL (inlined)              before the function that it is inlined into
 *     SOURCE:LINE                                 with -F +srcline, after its frame
 *
 * CPU, TIME and PERIOD may be missing, and so may PID or TID. A sample without callers has its
 * frame on the first line. Lines that begin with # are comments.
 *
 * Each event becomes a sample type, after samples/count; a sample without a PERIOD counts as 1.
 * COMM, PID and TID become the labels comm, pid and tid. A caller's address becomes one that is
 * inside the call, one byte less.
 *
 * Owns: the profile, until it is whole; the stack of the current sample.
 * Tested by: unit.cmd_perf_script, e2e.cpprof_convert, fuzz.perf_script.
 */
#include "import/formats.h"

#include "base/message.h"
#include "import/named_frames.h"
#include "import/perf_lines.h"
#include "import/text_lines.h"

#include <stdlib.h>
#include <string.h>

/* perf itself records no more at a time. */
#define MAX_EVENTS 64
#define SNIFFED    ((size_t)64 << 10)

#define EXPECTED "COMM PID/TID [CPU] TIME: PERIOD EVENT: or ADDRESS SYMBOL (FILE)"

typedef struct value {
    uint32_t event;
    int64_t period;
} value;

/* A line that was read before: the same frames come again and again. */
typedef struct known {
    const char *text; /* in the file; NULL: none */
    size_t length;
    uint64_t address;
    uint32_t function; /* or NO_FUNCTION */
    uint32_t mapping;
    bool inlined;
    uint32_t
        locations[2]; /* if the frame is a location of its own, the leaf's and a caller's, + 1 */
} known;

#define NO_FUNCTION UINT32_MAX
#define KNOWN       ((size_t)1 << 14)

typedef struct reader {
    cp_named named;
    cp_lines lines;
    cp_error *error;
    cp_string events[MAX_EVENTS];
    uint32_t event_count;
    value *values; /* of each sample */
    size_t value_room;

    /* The current sample. */
    cp_perf_header header;
    char *header_line; /* what the header's spans are in */
    bool in_sample;
    uint32_t event;
    uint32_t *stack;
    size_t depth, stack_room;
    known *known; /* by the hash of the line; the last one of a hash stays */

    /* The current location: functions that are inlined come before the one that they are in. */
    cp_line *chain;
    size_t chain_count, chain_room;
    uint64_t address;
    uint32_t mapping;
    bool in_chain, whole;
    known *alone; /* what the location consists of, if it is one frame */
    const char *alone_text;
    bool ends_in_zero; /* the last one is "0 [unknown] ([unknown])" */
} reader;

static cp_string add_string(reader *r, cp_span span)
{
    return cp_strings_add(&r->named.profile->strings, span.at, span.length);
}

/* ---- frames ---- */

static void push(reader *r, uint32_t location)
{
    r->stack = cp_heap_grow(r->stack, r->depth, &r->stack_room, sizeof *r->stack);
    r->stack[r->depth++] = location;
}

static uint32_t add_location(reader *r)
{
    const cp_location wanted = {.address = r->address - (r->depth > 0 && r->address > 0),
                                .lines = r->chain,
                                .line_count = (uint32_t)r->chain_count,
                                .mapping = r->mapping};

    if (r->mapping != CP_NO_MAPPING) {
        cp_named_cover(&r->named, r->mapping, wanted.address);
    }
    return cp_named_location(&r->named, &wanted);
}

static void end_location(reader *r)
{
    uint32_t found, *slot = &found;

    r->ends_in_zero = r->in_chain && r->depth > 0 && !r->address && !r->chain_count &&
                      r->mapping == CP_NO_MAPPING;
    if (!r->in_chain) {
        return;
    }
    found = 0;
    if (r->alone && r->alone->text == r->alone_text) {
        slot = &r->alone->locations[r->depth > 0];
    }
    if (!*slot) {
        *slot = add_location(r) + 1;
    }
    push(r, *slot - 1);
    r->in_chain = false;
}

static void add_line(reader *r, uint32_t function)
{
    r->chain = cp_heap_grow(r->chain, r->chain_count, &r->chain_room, sizeof *r->chain);
    r->chain[r->chain_count++] = (cp_line){.function = function};
}

static void add_frame(reader *r, known *frame)
{
    if (r->in_chain && (r->whole || frame->address != r->address)) {
        end_location(r);
    }
    r->alone = r->in_chain || frame->inlined ? NULL : frame;
    r->alone_text = frame->text;
    if (!r->in_chain) {
        r->chain_count = 0;
        r->mapping = CP_NO_MAPPING;
    }
    r->in_chain = true;
    r->whole = !frame->inlined;
    r->address = frame->address;
    if (frame->mapping != CP_NO_MAPPING) {
        r->mapping = frame->mapping;
    }
    if (frame->function != NO_FUNCTION) {
        add_line(r, frame->function);
    }
}

static known know(reader *r, const cp_perf_frame *frame)
{
    known known_frame = {.address = frame->address,
                         .function = NO_FUNCTION,
                         .mapping = CP_NO_MAPPING,
                         .inlined = frame->inlined};

    if (frame->file.length) {
        known_frame.mapping = cp_named_mapping(&r->named, add_string(r, frame->file));
    }
    if (frame->symbol.length) {
        known_frame.function = cp_named_function(&r->named, add_string(r, frame->symbol), 0);
    }
    return known_frame;
}

/* Finds the line among the known ones. *slot becomes its place. */
static bool is_known(reader *r, known **slot)
{
    const cp_lines *lines = &r->lines;

    *slot = &r->known[cp_hash_bytes(lines->line, lines->length, 0) % KNOWN];
    return (*slot)->text && (*slot)->length == lines->length &&
           memcmp((*slot)->text, lines->line, lines->length) == 0;
}

/* The last frame's place in the source. With sources, only these say what is inlined. */
static bool add_source(reader *r, const char *text)
{
    cp_perf_source source;

    if (!r->in_chain || !cp_perf_parse_source(text, &source)) {
        return false;
    }
    r->whole = r->whole && !source.inlined;
    r->alone = NULL;
    if (!r->chain_count || !source.file.length) {
        return true;
    }
    cp_line *line = &r->chain[r->chain_count - 1];
    cp_string name = r->named.profile->functions[line->function].name;
    line->function = cp_named_function(&r->named, name, add_string(r, source.file));
    line->line = source.line;
    return true;
}

/* ---- samples ---- */

static int find_event(reader *r, uint32_t *event)
{
    cp_string name = add_string(r, r->header.event);

    for (*event = 0; *event < r->event_count; ++*event) {
        if (r->events[*event] == name) {
            return 0;
        }
    }
    if (r->event_count == MAX_EVENTS) {
        return cp_lines_fail(&r->lines, "at most 64 events in all", r->error);
    }
    r->events[r->event_count++] = name;
    return 0;
}

static void add_number(reader *r, cp_sample *sample, const char *key, int64_t number)
{
    if (number >= 0) {
        cp_named_label(&r->named, sample, key, (cp_label){.number = number, .numeric = true});
    }
}

static void add_labels(reader *r, cp_sample *sample)
{
    enum { LABELS = 3 };

    sample->labels = CP_POOL_ARRAY(&r->named.profile->pool, cp_label, LABELS);
    cp_named_label(&r->named, sample, "comm", (cp_label){.text = add_string(r, r->header.comm)});
    add_number(r, sample, "pid", r->header.pid);
    add_number(r, sample, "tid", r->header.tid);
}

static void keep_value(reader *r, uint32_t event, int64_t period)
{
    size_t count = r->named.profile->sample_count;

    r->values = cp_heap_grow(r->values, count, &r->value_room, sizeof *r->values);
    r->values[count] = (value){event, period};
}

static void end_sample(reader *r)
{
    if (!r->in_sample) {
        return;
    }
    end_location(r);
    r->depth -= r->ends_in_zero; /* walks by frame pointers end so, beyond the root */
    keep_value(r, r->event, r->header.period);
    cp_sample *sample = cp_named_sample(&r->named, r->depth);
    sample->location_count = (uint32_t)r->depth;
    if (r->depth) {
        memcpy(sample->locations, r->stack, r->depth * sizeof *r->stack);
    }
    add_labels(r, sample);
    r->in_sample = false;
}

/* Begins a sample with the current line, and keeps that: the sample ends lines later. */
static int begin_sample(reader *r)
{
    cp_perf_frame frame;

    end_sample(r);
    free(r->header_line);
    r->header_line = cp_heap_copy(r->lines.line, r->lines.length);
    cp_perf_parse_header(r->header_line, &r->header);
    if (find_event(r, &r->event) < 0) {
        return -1;
    }
    r->in_sample = true;
    r->depth = 0;
    r->in_chain = false;
    if (cp_perf_parse_frame(r->header.rest, &frame)) {
        known only = know(r, &frame);
        add_frame(r, &only);
        end_location(r);
    }
    return 0;
}

/* ---- lines ---- */

/* perf sets the names of commands to the right where samples have no callers: then the time shows
 * that the line is no frame. */
static bool is_header(const cp_lines *lines)
{
    cp_perf_header header;

    return cp_perf_parse_header(lines->line, &header) && (!lines->indented || header.has_time);
}

static int read_new_line(reader *r, known *slot)
{
    const cp_lines *lines = &r->lines;
    cp_perf_frame frame;

    if (is_header(lines)) {
        return begin_sample(r);
    }
    if (!r->in_sample || !cp_perf_parse_frame(lines->line, &frame)) {
        return add_source(r, lines->line) ? 0 : cp_lines_fail(lines, EXPECTED, r->error);
    }
    *slot = know(r, &frame);
    slot->text = lines->data + lines->offset;
    slot->length = lines->length;
    add_frame(r, slot);
    return 0;
}

static int read_line(reader *r)
{
    known *slot;

    if (r->lines.line[0] == '#') {
        return 0;
    }
    if (is_known(r, &slot) && r->in_sample) {
        add_frame(r, slot);
        return 0;
    }
    return read_new_line(r, slot);
}

static const char *unit_of(const char *event)
{
    return strcmp(event, "cpu-clock") == 0 || strcmp(event, "task-clock") == 0 ? "nanoseconds"
                                                                               : "count";
}

/* Gives each sample its values, now that all events are known. */
static void put_values(reader *r)
{
    cp_profile *profile = r->named.profile;

    cp_named_types(&r->named, r->event_count + 1);
    cp_profile_add_type(r->named.profile, "samples", "count");
    for (uint32_t i = 0; i < r->event_count; i++) {
        char *event = cp_heap_copy(cp_profile_text(profile, r->events[i]),
                                   cp_strings_length(&profile->strings, r->events[i]));
        cp_profile_add_type(r->named.profile, event, unit_of(event));
        free(event);
    }
    if (r->event_count) {
        profile->default_sample_type = profile->sample_types[1].type;
    }
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        int64_t *values = cp_pool_words(&profile->pool, profile->sample_type_count, sizeof *values);
        values[0] = 1;
        values[1 + r->values[i].event] = r->values[i].period;
        profile->samples[i].values = values;
    }
}

static int read_all(reader *r)
{
    while (cp_lines_next_text(&r->lines)) {
        if (read_line(r) < 0) {
            return -1;
        }
    }
    end_sample(r);
    put_values(r);
    cp_named_program_first(&r->named);
    return 0;
}

static int decode(const uint8_t *data, size_t length, cp_profile **out, cp_error *error)
{
    reader r = {.error = error};
    cp_profile *profile = cp_profile_new();

    cp_named_init(&r.named, profile);
    cp_lines_init(&r.lines, data, length);
    r.known = cp_heap_alloc(KNOWN, sizeof *r.known);
    int status = read_all(&r);
    cp_lines_release(&r.lines);
    cp_named_release(&r.named);
    free(r.known);
    free(r.values);
    free(r.stack);
    free(r.chain);
    free(r.header_line);
    if (status < 0) {
        cp_profile_free(profile);
        return -1;
    }
    *out = profile;
    return 0;
}

/* Whether the lines begin with samples; goes on to the first frame. */
static bool has_sample(cp_lines *lines)
{
    cp_perf_header header;
    cp_perf_frame frame;
    bool in_sample = false;

    while (cp_lines_next_text(lines)) {
        if (lines->line[0] == '#') {
            continue;
        }
        if (!is_header(lines)) {
            return in_sample && cp_perf_parse_frame(lines->line, &frame);
        }
        cp_perf_parse_header(lines->line, &header);
        if (cp_perf_parse_frame(header.rest, &frame)) {
            return true;
        }
        in_sample = true;
    }
    return in_sample;
}

static bool recognize(const uint8_t *data, size_t length)
{
    cp_lines lines;

    cp_lines_init(&lines, data, length < SNIFFED ? length : SNIFFED);
    bool found = has_sample(&lines);
    cp_lines_release(&lines);
    return found;
}

const cp_format cp_perf_script = {recognize, decode};
