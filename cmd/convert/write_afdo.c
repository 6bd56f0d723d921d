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
 * The form is described in clang's user manual ("Sample Profile Text Format").
 *
 * Where the flow of control is not known, a place without samples is left out, and the compiler infers how often it
 * runs, unless so many would have to be there that it does not run.
 *
 * Owns: nothing after a call.
 * Tested by: e2e.cpprof_pgo
 */
#include "convert/convert.h"

#include "base/message.h"
#include "convert/code_counts.h"
#include "report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct writer {
    FILE *out;
    cp_code_counts counts;
} writer;

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
    uint32_t discriminator = cp_code_base_discriminator(place.discriminator);

    fprintf(w->out, "%*s%u", depth, "", place.line);
    if (discriminator) {
        fprintf(w->out, ".%u", discriminator);
    }
    fputs(": ", w->out);
}

/* The functions that are called there. */
static void put_targets(const writer *w, const cp_code_part *part)
{
    for (const cp_code_target *t = part->targets; t; t = t->next) {
        fprintf(w->out, " %.*s:%" PRIu64, name_length(t->name), t->name,
                cp_code_target_count(&w->counts, part, t));
    }
}

static void put_function(const writer *w, const cp_code_function *function, int depth)
{
    cp_code_part *parts = function->parts;

    qsort(parts, function->part_count, sizeof *parts, by_place);
    for (size_t i = 0; i < function->part_count; i++) {
        if (cp_code_is_known(&w->counts, &parts[i])) {
            put_place(w, parts[i].place, depth);
            fprintf(w->out, "%" PRIu64, cp_code_count(&w->counts, &parts[i]));
            put_targets(w, &parts[i]);
            putc('\n', w->out);
        }
    }
    for (const cp_code_function *f = function->inlined; f; f = f->next) {
        uint64_t total = cp_code_total(&w->counts, f);
        if (total > 0) {
            put_place(w, f->at, depth);
            fprintf(w->out, "%.*s:%" PRIu64 "\n", name_length(f->name), f->name, total);
            put_function(w, f, depth + 1);
        }
    }
}

static void put_all(writer *w, const cp_code *code)
{
    for (size_t i = 0; i < code->count; i++) {
        const cp_code_function *function = code->functions[i];
        cp_code_counts_enter(&w->counts, function);
        uint64_t total = cp_code_total(&w->counts, function);
        if (total > 0) {
            fprintf(w->out, "%.*s:%" PRIu64 ":%" PRIu64 "\n", name_length(function->name),
                    function->name, total, cp_code_entries(&w->counts, function));
            put_function(w, function, 1);
        }
    }
}

int cp_convert_afdo(const cp_report *report, FILE *out, cp_error *error)
{
    cp_code code;
    writer w = {.out = out};
    int status = cp_code_collect(report, &code, error);

    if (status == 0) {
        cp_code_counts_init(&w.counts, &code, CP_CODE_OF_LLVM);
        put_all(&w, &code);
    }
    cp_code_release(&code);
    return status;
}
