/* SPDX-License-Identifier: MIT
 *
 * legacy_heap.c: heap profiles as text; see legacy_lines.h.
 *
 *   heap profile: OBJECTS: BYTES [OBJECTS: BYTES] @ heap/RATE     in use [allocated]
 *   OBJECTS: BYTES [OBJECTS: BYTES] @ 0x... 0x...
 *
 * The word after @ says what the rows are: `heapprofile`, `growth` and `fragmentation` have true
 * values; `heap_v2/RATE` and `heapz_v2/RATE` have samples, one for every RATE bytes on average;
 * `heap/N` as well, with N twice the rate.
 *
 * jemalloc (prof:true) has the rows of a stack after it:
 *
 *   heap_v2/RATE
 *     t*: OBJECTS: BYTES [OBJECTS: BYTES]     in use [allocated], of all threads
 *     t0: OBJECTS: BYTES [OBJECTS: BYTES]     of one
 *   @ 0x... 0x...                             a stack; its rows follow
 *     t*: OBJECTS: BYTES [OBJECTS: BYTES]
 *
 * These are samples, one for every RATE bytes on average, and are scaled as jeprof does. Rows of
 * single threads count for nothing: the sums of all are there.
 *
 * Tested by: unit.cmd_legacy_text, fuzz.legacy_text.
 */
#include "import/legacy_lines.h"

#include "base/measurement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "4: 4096 [9: 9216]": what is in use, and what was allocated in all; objects and bytes. */
typedef struct cp_heap_row {
    int64_t in_use[2], allocated[2];
} cp_heap_row;

typedef struct cp_heap {
    cp_legacy *legacy;
    bool sampled;       /* the profile's period is the bytes for each sample */
    bool has_allocated; /* the rows have more than what is in use */
} cp_heap;

static bool parse_pair(const char **text, int64_t pair[2])
{
    return cp_legacy_number(text, &pair[0]) && cp_legacy_skip(text, ":") &&
           cp_legacy_number(text, &pair[1]);
}

/* Reads a row, and goes past it. */
static bool parse_row(const char **text, cp_heap_row *row)
{
    return parse_pair(text, row->in_use) && cp_legacy_skip(text, "[") &&
           parse_pair(text, row->allocated) && cp_legacy_skip(text, "]");
}

static bool differs(int64_t allocated, int64_t in_use)
{
    return allocated != in_use && allocated != 0;
}

/* Whether what was allocated in all is more than a copy of what is in use, or nothing. */
static bool counts_allocated(const cp_heap_row *total)
{
    return differs(total->allocated[0], total->in_use[0]) ||
           differs(total->allocated[1], total->in_use[1]);
}

/* Reads the word after the @ of the header. */
static int parse_kind(cp_heap *h, const char *kind)
{
    cp_profile *profile = h->legacy->profile;
    size_t length = strcspn(kind, "/ \t");
    int64_t number = kind[length] == '/' ? strtoll(kind + length + 1, NULL, 10) : 0;

    profile->period = 1;
    if (strncmp(kind, "growth", 6) == 0 || strncmp(kind, "fragmentation", 13) == 0) {
        h->has_allocated = false;
        return 0;
    }
    if (length == 11 && strncmp(kind, "heapprofile", length) == 0) {
        return 0;
    }
    h->sampled = true;
    if ((length == 7 && strncmp(kind, "heap_v2", length) == 0) ||
        (length == 8 && strncmp(kind, "heapz_v2", length) == 0)) {
        profile->period = number;
        return 0;
    }
    if (length == 4 && strncmp(kind, "heap", length) == 0) {
        profile->period = number / 2;
        return 0;
    }
    return cp_legacy_fail(h->legacy, "heap, heap_v2, heapz_v2, heapprofile, growth or "
                                     "fragmentation after the @");
}

/* A sample of a block of S bytes was taken with the probability 1 - exp(-S / rate). */
static void undo_sampling(int64_t pair[2], int64_t rate)
{
    if (pair[0] == 0 || pair[1] == 0 || rate <= 1) {
        pair[0] = pair[1] == 0 ? 0 : pair[0];
        return;
    }
    double average = (double)pair[1] / (double)pair[0];
    double scale = 1 / (1 - exp(-average / (double)rate));
    pair[0] = cp_measure_truncate((double)pair[0] * scale);
    pair[1] = cp_measure_truncate((double)pair[1] * scale);
}

/* Stores objects and bytes in two values. Returns false if there are bytes, but no objects. */
static bool put_values(const cp_heap *h, const int64_t pair[2], int64_t *values,
                       int64_t *block_bytes)
{
    if (pair[0] == 0) {
        return pair[1] == 0;
    }
    *block_bytes = pair[0] == -1 ? (int64_t)(0 - (uint64_t)pair[1]) : pair[1] / pair[0];
    memcpy(values, pair, 2 * sizeof *values);
    if (h->sampled) {
        undo_sampling(values, h->legacy->profile->period);
    }
    return true;
}

/* A row of 0 objects has a label of 0 bytes, as the Go tool has it. */
static void put_size(cp_legacy *legacy, cp_sample *sample, int64_t block_bytes)
{
    sample->labels = CP_POOL_ARRAY(&legacy->profile->pool, cp_label, 1);
    sample->labels[0] = (cp_label){.key = cp_strings_put(&legacy->profile->strings, "bytes"),
                                   .number = block_bytes,
                                   .numeric = true};
    sample->label_count = 1;
}

/* Adds a sample with the stack in the text. Returns 0, or -1 with a sentence. */
static int add_row(const cp_heap *h, const cp_heap_row *row, const char *stack)
{
    cp_legacy *legacy = h->legacy;
    cp_sample *sample = cp_legacy_add_sample(legacy);
    int64_t *values = sample->values, block_bytes = 0;
    bool complete = true;

    if (h->has_allocated) {
        complete = put_values(h, row->allocated, values, &block_bytes);
        values += 2;
    }
    if (!put_values(h, row->in_use, values, &block_bytes) || !complete) {
        return cp_legacy_fail(legacy, "0 bytes for 0 objects");
    }
    put_size(legacy, sample, block_bytes);
    cp_legacy_add_stack(legacy, sample, stack);
    return 0;
}

static int read_row(const cp_heap *h)
{
    const char *text = h->legacy->line;
    cp_heap_row row = {{0}, {0}};

    if (!parse_row(&text, &row) || !cp_legacy_skip(&text, "@")) {
        return cp_legacy_fail(h->legacy, "OBJECTS: BYTES [OBJECTS: BYTES] @ ADDRESSES");
    }
    return add_row(h, &row, text);
}

/* The allocated ones come first, so that what is in use is the default. */
static void add_types(const cp_heap *h)
{
    cp_legacy *legacy = h->legacy;

    if (!h->has_allocated) {
        cp_profile_add_type(legacy->profile, "objects", "count");
        cp_profile_add_type(legacy->profile, "space", "bytes");
        return;
    }
    cp_profile_add_type(legacy->profile, "alloc_objects", "count");
    cp_profile_add_type(legacy->profile, "alloc_space", "bytes");
    cp_profile_add_type(legacy->profile, "inuse_objects", "count");
    cp_profile_add_type(legacy->profile, "inuse_space", "bytes");
}

/* Adds the sample types, and sets the period's. */
static void begin_profile(const cp_heap *h)
{
    cp_profile *profile = h->legacy->profile;

    profile->period_type = (cp_value_type){cp_strings_put(&profile->strings, "space"),
                                           cp_strings_put(&profile->strings, "bytes")};
    add_types(h);
}

int cp_legacy_read_heap(cp_legacy *legacy)
{
    static const char begin[] = "heap profile:";
    cp_heap h = {.legacy = legacy};
    const char *text = strstr(legacy->line, begin);
    cp_heap_row total;

    text += text ? sizeof begin - 1 : 0;
    if (!text || !parse_row(&text, &total) || !cp_legacy_skip(&text, "@")) {
        return cp_legacy_fail(legacy, "heap profile: OBJECTS: BYTES [OBJECTS: BYTES] @ heap");
    }
    h.has_allocated = counts_allocated(&total);
    if (parse_kind(&h, text) < 0) {
        return -1;
    }
    begin_profile(&h);
    while (cp_legacy_next(legacy) && !cp_legacy_is_map(legacy)) {
        if (!cp_legacy_is_blank(legacy) && read_row(&h) < 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- jemalloc ---- */

#define JEMALLOC_ROW "tTHREAD: OBJECTS: BYTES [OBJECTS: BYTES]"

/* Reads a row. *all becomes whether it is of all threads. */
static int parse_jemalloc_row(const cp_legacy *legacy, cp_heap_row *row, bool *all)
{
    const char *text = legacy->line;
    int64_t thread;

    *all = false;
    if (!cp_legacy_skip(&text, "t")) {
        return cp_legacy_fail(legacy, JEMALLOC_ROW " or @ ADDRESSES");
    }
    if (cp_legacy_skip(&text, "*")) {
        *all = true;
    } else if (!cp_legacy_number(&text, &thread)) {
        return cp_legacy_fail(legacy, JEMALLOC_ROW);
    }
    if (!cp_legacy_skip(&text, ":") || !parse_row(&text, row)) {
        return cp_legacy_fail(legacy, JEMALLOC_ROW);
    }
    return 0;
}

/* Reads the lines up to the next stack. Returns 1 if there is one, 0 at the end of the stacks. */
static int read_rows(const cp_heap *heap, const char *stack, cp_heap_row *sum)
{
    cp_legacy *legacy = heap->legacy;
    bool has_sum = false;

    while (cp_legacy_next(legacy) && !cp_legacy_is_map(legacy)) {
        cp_heap_row row = {{0}, {0}};
        bool all;

        if (cp_legacy_is_blank(legacy)) {
            continue;
        }
        if (cp_legacy_begins(legacy, "@")) {
            return 1;
        }
        if (parse_jemalloc_row(legacy, &row, &all) < 0) {
            return -1;
        }
        if (!all) {
            continue;
        }
        if (has_sum) {
            return cp_legacy_fail(legacy, "one row t* for each stack");
        }
        has_sum = true;
        *sum = row;
        if (stack && add_row(heap, &row, stack) < 0) {
            return -1;
        }
    }
    return 0;
}

int cp_legacy_read_jemalloc(cp_legacy *legacy)
{
    cp_heap heap = {.legacy = legacy, .sampled = true};
    const char *text = legacy->line;
    cp_heap_row total = {{0}, {0}};

    if (!cp_legacy_skip(&text, "heap_v2/") || !cp_legacy_number(&text, &legacy->profile->period)) {
        return cp_legacy_fail(legacy, "heap_v2/RATE");
    }
    int status = read_rows(&heap, NULL, &total);
    heap.has_allocated = counts_allocated(&total);
    begin_profile(&heap);
    while (status > 0) {
        char *stack = cp_heap_copy(legacy->line, strlen(legacy->line));
        status = read_rows(&heap, stack, &total);
        free(stack);
    }
    return status;
}
