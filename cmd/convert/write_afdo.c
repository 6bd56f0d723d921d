/* SPDX-License-Identifier: MIT
 *
 * write_afdo.c: LLVM's text form of a sample profile, for clang -fprofile-sample-use; see convert.h.
 *
 *   main:18400:120          function: all its counts: how often it is entered
 *    4: 534                 line from the function's first one: how often it runs
 *    4.2: 30 next:20 end:10 the line's part with discriminator 2, and what it calls how often
 *    10: inlined:1000       an inlined function, with all its counts
 *     1: 1000
 *
 * The form is described in clang's user manual ("Sample Profile Text Format"). Counts are relative: the most
 * frequent place has MOST. Discriminators are read as LLVM encodes them (DebugInfoMetadata.h): the base
 * discriminator, and by how much the code was multiplied, as by unrolling a loop.
 *
 * A place is often a few instructions, which few samples or none hit. So its samples per byte are drawn to those of its
 * function, as if PRIOR_BYTES more bytes ran as often as the function's others. A place without samples is left
 * out, and the compiler infers how often it runs, unless so many would have to be there that it does not run.
 *
 * Owns: nothing after a call.
 * Tested by: e2e.cpprof_pgo
 */
#include "convert/convert.h"

#include "base/message.h"
#include "convert/code_weights.h"
#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MOST        1000000.0
#define PRIOR_BYTES 64.0
#define SURE        4.0 /* samples that would have to be there */

/* ---- discriminators ---- */

/* A component: 5 bits, or 12 where bit 5 is set. An odd number says that it is 0. */
static uint32_t component(uint32_t encoded)
{
    if (encoded & 1) {
        return 0;
    }
    encoded >>= 1;
    return encoded & 0x20 ? ((encoded >> 1) & 0xfe0) | (encoded & 0x1f) : encoded & 0x1f;
}

static uint32_t after_component(uint32_t encoded)
{
    if (encoded & 1) {
        return encoded >> 1;
    }
    return encoded >> (encoded & 0x40 ? 14 : 7);
}

static uint32_t base_of(uint32_t discriminator)
{
    return component(discriminator);
}

static uint32_t copies_of(uint32_t discriminator)
{
    uint32_t copies = component(after_component(discriminator));

    return copies ? copies : 1;
}

/* ---- counts ---- */

typedef struct writer {
    FILE *out;
    double mean;  /* samples per byte of the function, with those that are inlined */
    double scale; /* from samples per byte to counts */
} writer;

static double bytes_of(const cp_code_function *function)
{
    double bytes = 0;

    for (size_t i = 0; i < function->part_count; i++) {
        bytes += (double)function->parts[i].bytes;
    }
    for (const cp_code_function *f = function->inlined; f; f = f->next) {
        bytes += bytes_of(f);
    }
    return bytes;
}

/* Goes to a function that is not inlined, and has samples. */
static void go_to(writer *w, const cp_code_function *function)
{
    w->mean = (double)function->samples / bytes_of(function);
}

static bool has_run(const cp_code_part *part)
{
    return part->samples > 0 || part->targets;
}

static double rate(const writer *w, const cp_code_part *part)
{
    if (!has_run(part)) {
        return 0;
    }
    return ((double)part->samples + PRIOR_BYTES * w->mean) / ((double)part->bytes + PRIOR_BYTES) *
           copies_of(part->place.discriminator);
}

static double highest_rate(const writer *w, const cp_code_function *function)
{
    double highest = 0;

    for (size_t i = 0; i < function->part_count; i++) {
        highest = fmax(highest, rate(w, &function->parts[i]));
    }
    for (const cp_code_function *f = function->inlined; f; f = f->next) {
        highest = fmax(highest, highest_rate(w, f));
    }
    return highest;
}

static uint64_t count_of(const writer *w, const cp_code_part *part)
{
    return has_run(part) ? (uint64_t)fmax(1, round(rate(w, part) * w->scale)) : 0;
}

static bool is_known(const writer *w, const cp_code_part *part)
{
    return has_run(part) || w->mean * (double)part->bytes >= SURE;
}

static uint64_t total(const writer *w, const cp_code_function *function)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < function->part_count; i++) {
        sum += count_of(w, &function->parts[i]);
    }
    for (const cp_code_function *f = function->inlined; f; f = f->next) {
        sum += total(w, f);
    }
    return sum;
}

static uint64_t entries(const writer *w, const cp_code_function *function)
{
    for (size_t i = 0; i < function->part_count; i++) {
        const cp_code_part *part = &function->parts[i];
        if (part->place.line == function->entry.line &&
            part->place.discriminator == function->entry.discriminator) {
            return count_of(w, part);
        }
    }
    return 0;
}

/* ---- text ---- */

static int by_place(const void *left, const void *right)
{
    const cp_code_part *a = left, *b = right;

    if (a->place.line != b->place.line) {
        return a->place.line < b->place.line ? -1 : 1;
    }
    return (a->place.discriminator > b->place.discriminator) -
           (a->place.discriminator < b->place.discriminator);
}

/* The name in the source file: what the compiler appended to it is left out ("f.llvm.123", "f.part.0"). */
static int name_length(const char *name)
{
    static const char *const suffixes[] = {".llvm.", ".part.", ".cold", ".constprop.", ".isra."};
    size_t length = strlen(name);

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        const char *found = strstr(name, suffixes[i]);
        if (found && (size_t)(found - name) < length) {
            length = (size_t)(found - name);
        }
    }
    return (int)length;
}

static void put_place(const writer *w, cp_code_place place, int depth)
{
    uint32_t discriminator = base_of(place.discriminator);

    fprintf(w->out, "%*s%u", depth, "", place.line);
    if (discriminator) {
        fprintf(w->out, ".%u", discriminator);
    }
    fputs(": ", w->out);
}

/* The functions that are called there, by their shares of the place's count. */
static void put_targets(const writer *w, const cp_code_part *part)
{
    double sum = 0;

    for (const cp_code_target *t = part->targets; t; t = t->next) {
        sum += (double)t->samples;
    }
    for (const cp_code_target *t = part->targets; t; t = t->next) {
        double share = (double)t->samples / sum * (double)count_of(w, part);
        fprintf(w->out, " %.*s:%" PRIu64, name_length(t->name), t->name,
                (uint64_t)fmax(1, round(share)));
    }
}

static void put_function(const writer *w, const cp_code_function *function, int depth)
{
    cp_code_part *parts = function->parts;

    qsort(parts, function->part_count, sizeof *parts, by_place);
    for (size_t i = 0; i < function->part_count; i++) {
        if (is_known(w, &parts[i])) {
            put_place(w, parts[i].place, depth);
            fprintf(w->out, "%" PRIu64, count_of(w, &parts[i]));
            put_targets(w, &parts[i]);
            putc('\n', w->out);
        }
    }
    for (const cp_code_function *f = function->inlined; f; f = f->next) {
        if (f->samples > 0) {
            put_place(w, f->at, depth);
            fprintf(w->out, "%.*s:%" PRIu64 "\n", name_length(f->name), f->name, total(w, f));
            put_function(w, f, depth + 1);
        }
    }
}

static void put_all(writer *w, const cp_code *code)
{
    double highest = 0;

    for (size_t i = 0; i < code->count && code->functions[i]->samples > 0; i++) {
        go_to(w, code->functions[i]);
        highest = fmax(highest, highest_rate(w, code->functions[i]));
    }
    w->scale = MOST / highest;
    for (size_t i = 0; i < code->count && code->functions[i]->samples > 0; i++) {
        const cp_code_function *function = code->functions[i];
        go_to(w, function);
        fprintf(w->out, "%.*s:%" PRIu64 ":%" PRIu64 "\n", name_length(function->name),
                function->name, total(w, function), entries(w, function));
        put_function(w, function, 1);
    }
}

int cp_convert_afdo(const cp_report *report, FILE *out, cp_error *error)
{
    cp_code code;
    writer w = {.out = out};
    int status = cp_code_collect(report, &code, error);

    if (status == 0) {
        put_all(&w, &code);
    }
    cp_code_release(&code);
    return status;
}
