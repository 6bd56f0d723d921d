/* SPDX-License-Identifier: MIT
 *
 * legacy_jemalloc.c: heap profiles of jemalloc (prof:true) as text; see legacy_lines.h.
 *
 *   heap_v2/RATE
 *     t*: OBJECTS: BYTES [OBJECTS: BYTES]     in use [allocated], of all threads
 *     t0: OBJECTS: BYTES [OBJECTS: BYTES]     of one
 *   @ 0x... 0x...                             a stack; its rows follow
 *     t*: OBJECTS: BYTES [OBJECTS: BYTES]
 *
 * The rows are samples, one for every RATE bytes on average, and are scaled as jeprof does. Rows of
 * single threads count for nothing: the sums of all are there.
 *
 * Tested by: unit.cmd_legacy_text, fuzz.legacy_text.
 */
#include "import/legacy_lines.h"

#include "import/legacy_heap.h"

#include <stdlib.h>
#include <string.h>

#define ROW "tTHREAD: OBJECTS: BYTES [OBJECTS: BYTES]"

/* Reads a row. *all becomes whether it is of all threads. */
static int parse(const cp_legacy *legacy, cp_heap_row *row, bool *all)
{
    const char *text = legacy->line;
    int64_t thread;

    *all = false;
    if (!cp_legacy_skip(&text, "t")) {
        return cp_legacy_fail(legacy, ROW " or @ ADDRESSES");
    }
    if (cp_legacy_skip(&text, "*")) {
        *all = true;
    } else if (!cp_legacy_number(&text, &thread)) {
        return cp_legacy_fail(legacy, ROW);
    }
    if (!cp_legacy_skip(&text, ":") || !cp_heap_parse_row(&text, row)) {
        return cp_legacy_fail(legacy, ROW);
    }
    return 0;
}

/* Reads the lines up to the next stack. Returns 1 if there is one, 0 at the end of the stacks. */
static int read_rows(const cp_heap *heap, const char *stack, cp_heap_row *sum)
{
    cp_legacy *legacy = heap->legacy;
    bool has_sum = false;

    while (cp_legacy_next(legacy) && !cp_legacy_is_map(legacy)) {
        cp_heap_row row;
        bool all;

        if (cp_legacy_is_blank(legacy)) {
            continue;
        }
        if (cp_legacy_begins(legacy, "@")) {
            return 1;
        }
        if (parse(legacy, &row, &all) < 0) {
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
        if (stack && cp_heap_add_row(heap, &row, stack) < 0) {
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
    heap.has_allocated = cp_heap_has_allocated(&total);
    cp_heap_begin(&heap);
    while (status > 0) {
        char *stack = cp_heap_copy(legacy->line, strlen(legacy->line));
        status = read_rows(&heap, stack, &total);
        free(stack);
    }
    return status;
}
