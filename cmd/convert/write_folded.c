/* SPDX-License-Identifier: MIT
 *
 * write_folded.c: profiles as folded stacks; see convert.h.
 *
 *   main;work;malloc 17
 *
 * In a name, a semicolon becomes a colon, as stackcollapse-perf.pl has it, and a byte that is no
 * UTF-8 U+FFFD.
 *
 * Owns: the texts of the frames, for the length of a call.
 * Tested by: e2e.cpprof_convert.
 */
#include "convert/convert.h"

#include "convert/stack_sums.h"
#include "report/report.h"
#include "src/base/utf8.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The name of a stack without frames. */
#define NO_STACK "[no stack]"

typedef struct text {
    const char *data;
    size_t length;
} text;

static char *put_character(char *to, const char *from, size_t bytes)
{
    if (bytes == 0) {
        return mempcpy(to, PP_UTF8_REPLACEMENT, strlen(PP_UTF8_REPLACEMENT));
    }
    if (bytes > 1) {
        return mempcpy(to, from, bytes);
    }
    switch (*from) {
    case ';':
        *to = ':';
        break;
    case '\t':
        *to = ' ';
        break;
    default:
        *to = *from;
    }
    return to + 1;
}

static text clean(cp_pool *pool, const cp_frame *frame)
{
    const char *at = frame->label, *end = at + frame->label_length;
    char *begin = cp_pool_alloc(pool, frame->label_length, strlen(PP_UTF8_REPLACEMENT));
    char *to = begin;

    while (at < end) {
        size_t bytes = pp_utf8_length(at, (size_t)(end - at));
        to = put_character(to, at, bytes);
        at += bytes ? bytes : 1;
    }
    return (text){begin, (size_t)(to - begin)};
}

static void put_stack(const cp_stack_sum *stack, const text *texts, int64_t value, FILE *out)
{
    for (uint32_t i = 0; i < stack->frame_count; i++) {
        const text *frame = &texts[stack->frames[i]];

        if (i) {
            putc_unlocked(';', out);
        }
        fwrite_unlocked(frame->data, 1, frame->length, out);
    }
    fprintf(out, "%s %" PRId64 "\n", stack->frame_count ? "" : NO_STACK, value);
}

void cp_convert_folded(const cp_report *report, FILE *out)
{
    const cp_frames *frames = &report->frames;
    text *texts = cp_heap_alloc(frames->count, sizeof *texts);
    cp_stack_sums sums;
    cp_pool pool;

    cp_pool_init(&pool);
    for (uint32_t i = 0; i < frames->count; i++) {
        texts[i] = clean(&pool, &frames->frames[i]);
    }
    cp_stack_sums_init(&sums, report);
    cp_stack_sums_warn(&sums, report->value_index);
    for (uint32_t i = 0; i < sums.count; i++) {
        int64_t value = sums.stacks[i].values[report->value_index];

        if (value > 0) {
            put_stack(&sums.stacks[i], texts, value, out);
        }
    }
    cp_stack_sums_release(&sums);
    cp_pool_release(&pool);
    free(texts);
}
