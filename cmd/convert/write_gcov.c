/* SPDX-License-Identifier: MIT
 *
 * write_gcov.c: GCC's AutoFDO profile, for gcc -fauto-profile; see convert.h.
 *
 *   "gcda" version 0
 *   NAMES     length  count  name...                    a name: its bytes, then NULs up to a multiple of 4
 *   FUNCTIONS length  count  (entries instance)...
 *   MODULES   length  0
 *
 *   instance: name  places  calls  (place targets count (type target count)...)...  (place instance)...
 *
 * A place is the line from the function's first one, and the discriminator in the lower 16 bits; an instance at a place
 * is an inlined function. Numbers have 32 bits, counts 64, as two numbers, in this machine's order. The form is that of
 * gcc/auto-profile.cc, version 2, with strings as gcov-io.h of GCC 12 has them: their lengths are in bytes. GCC 13 and
 * later read discriminators; GCC 12 looks at places without one.
 *
 * GCC ends names at their first dot, and has one instance for a name.
 *
 * Owns: the names, for the length of a call.
 * Tested by: e2e.cpprof_gcov
 */
#include "convert/convert.h"

#include "base/message.h"
#include "base/pool.h"
#include "convert/code_counts.h"
#include "report/report.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC         0x67636461u
#define VERSION       2u
#define TAG_NAMES     0xaa000000u
#define TAG_FUNCTIONS 0xac000000u
#define TAG_MODULES   0xae000000u
#define TYPE_CALL     6u  /* of a target: an indirect call; GCC skips it */
#define FIRST_NAME    "?" /* GCC takes the name 0 for none */

typedef struct writer {
    FILE *out; /* of the section */
    cp_code_counts counts;
    cp_pool pool;
    char **names; /* sorted, once each */
    size_t name_count, name_room;
    uint64_t *calls; /* by number: how often the place that calls it runs, for all such places */
} writer;

/* ---- names ---- */

static char *source_name(cp_pool *pool, const char *name)
{
    return cp_pool_copy(pool, name, strcspn(name, "."));
}

static void add_name(writer *w, const char *name)
{
    w->names = cp_pool_grow(&w->pool, w->names, w->name_count, &w->name_room, sizeof(char *));
    w->names[w->name_count++] = source_name(&w->pool, name);
}

static void add_names(writer *w, const cp_code_function *function)
{
    add_name(w, function->name);
    for (size_t i = 0; i < function->part_count; i++) {
        for (const cp_code_target *t = function->parts[i].targets; t; t = t->next) {
            add_name(w, t->name);
        }
    }
    for (const cp_code_function *f = function->inlined; f; f = f->next) {
        add_names(w, f);
    }
}

static int by_name(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static void sort_names(writer *w)
{
    size_t kept = 0;

    qsort(w->names, w->name_count, sizeof(char *), by_name);
    for (size_t i = 0; i < w->name_count; i++) {
        if (!kept || strcmp(w->names[kept - 1], w->names[i]) != 0) {
            w->names[kept++] = w->names[i];
        }
    }
    w->name_count = kept;
}

static uint32_t number_of(writer *w, const char *name)
{
    char *wanted = source_name(&w->pool, name);
    char **found = bsearch(&wanted, w->names, w->name_count, sizeof(char *), by_name);

    return found ? (uint32_t)(found - w->names) + 1 : 0;
}

/* ---- calls ---- */

static void add_calls(writer *w, const cp_code_function *function)
{
    for (size_t i = 0; i < function->part_count; i++) {
        const cp_code_part *part = &function->parts[i];
        for (const cp_code_target *t = part->targets; t; t = t->next) {
            w->calls[number_of(w, t->name)] += cp_code_target_count(&w->counts, part, t);
        }
    }
    for (const cp_code_function *f = function->inlined; f; f = f->next) {
        add_calls(w, f);
    }
}

/* How often a function is entered: as often as it is called. If it is called from other files only, as often as its
 * first place runs, which is too often where that place is part of a loop. */
static uint64_t entries(writer *w, const cp_code_function *function)
{
    uint64_t calls = w->calls[number_of(w, function->name)];
    uint64_t count = calls ? calls : cp_code_entries(&w->counts, function);

    return count ? count : 1;
}

/* ---- numbers ---- */

static void put(const writer *w, uint32_t number)
{
    fwrite(&number, sizeof number, 1, w->out);
}

static void put_count(const writer *w, uint64_t count)
{
    put(w, (uint32_t)count);
    put(w, (uint32_t)(count >> 32));
}

static void put_name(const writer *w, const char *name)
{
    size_t length = strlen(name);
    size_t room = (length / 4 + 1) * 4;

    put(w, (uint32_t)room);
    fwrite(name, 1, length, w->out);
    fwrite("\0\0\0", 1, room - length, w->out);
}

static void put_place(const writer *w, cp_code_place place)
{
    put(w, place.line << 16 | (place.discriminator & 0xffff));
}

/* ---- sections ---- */

/* GCC takes a function without an instance for one that does not run, also what it calls: so those that were only on
 * stacks have one. */
static bool has_run(const cp_code_function *function)
{
    bool found = function->samples > 0;

    for (size_t i = 0; !found && i < function->part_count; i++) {
        found = function->parts[i].targets != NULL;
    }
    for (const cp_code_function *f = function->inlined; !found && f; f = f->next) {
        found = has_run(f);
    }
    return found;
}

static void put_names(writer *w)
{
    put(w, (uint32_t)w->name_count + 1);
    put_name(w, FIRST_NAME);
    for (size_t i = 0; i < w->name_count; i++) {
        put_name(w, w->names[i]);
    }
}

static void put_part(writer *w, const cp_code_part *part)
{
    uint32_t count = 0;

    for (const cp_code_target *t = part->targets; t; t = t->next) {
        count++;
    }
    put_place(w, part->place);
    put(w, count);
    put_count(w, cp_code_count(&w->counts, part));
    for (const cp_code_target *t = part->targets; t; t = t->next) {
        put(w, TYPE_CALL);
        put_count(w, number_of(w, t->name));
        put_count(w, cp_code_target_count(&w->counts, part, t));
    }
}

static void put_instance(writer *w, const cp_code_function *function)
{
    uint32_t parts = 0, inlined = 0;

    for (size_t i = 0; i < function->part_count; i++) {
        parts += cp_code_is_known(&w->counts, &function->parts[i]);
    }
    for (const cp_code_function *f = function->inlined; f; f = f->next) {
        inlined += has_run(f);
    }
    put(w, number_of(w, function->name));
    put(w, parts);
    put(w, inlined);
    for (size_t i = 0; i < function->part_count; i++) {
        if (cp_code_is_known(&w->counts, &function->parts[i])) {
            put_part(w, &function->parts[i]);
        }
    }
    for (const cp_code_function *f = function->inlined; f; f = f->next) {
        if (has_run(f)) {
            put_place(w, f->at);
            put_instance(w, f);
        }
    }
}

static void put_functions(writer *w, const cp_code *code)
{
    uint32_t count = 0;

    for (size_t i = 0; i < code->count; i++) {
        count += has_run(code->functions[i]);
    }
    put(w, count);
    for (size_t i = code->count; i-- > 0;) { /* of one name GCC takes the last */
        if (has_run(code->functions[i])) {
            cp_code_counts_enter(&w->counts, code->functions[i]);
            put_count(w, entries(w, code->functions[i]));
            put_instance(w, code->functions[i]);
        }
    }
}

typedef struct section {
    FILE *file;
    char *bytes;
    size_t size;
} section;

static void begin(writer *w, section *s)
{
    *s = (section){NULL, NULL, 0};
    s->file = open_memstream(&s->bytes, &s->size);
    if (!s->file) {
        cp_out_of_memory();
    }
    w->out = s->file;
}

static void end(writer *w, section *s, uint32_t tag, FILE *out)
{
    if (fclose(s->file) != 0) {
        cp_out_of_memory();
    }
    w->out = out;
    put(w, tag);
    put(w, (uint32_t)(s->size / 4));
    fwrite(s->bytes, 1, s->size, out);
    free(s->bytes);
}

static void put_all(writer *w, const cp_code *code)
{
    FILE *out = w->out;
    section s;

    put(w, MAGIC);
    put(w, VERSION);
    put(w, 0);
    begin(w, &s);
    put_names(w);
    end(w, &s, TAG_NAMES, out);
    begin(w, &s);
    put_functions(w, code);
    end(w, &s, TAG_FUNCTIONS, out);
    put(w, TAG_MODULES);
    put(w, 1);
    put(w, 0);
}

static void prepare(writer *w, const cp_code *code)
{
    cp_code_counts_init(&w->counts, code, CP_CODE_OF_GCC);
    for (size_t i = 0; i < code->count; i++) {
        add_names(w, code->functions[i]);
    }
    sort_names(w);
    w->calls = CP_POOL_ARRAY(&w->pool, uint64_t, w->name_count + 1);
    for (size_t i = 0; i < code->count; i++) {
        cp_code_counts_enter(&w->counts, code->functions[i]);
        add_calls(w, code->functions[i]);
    }
}

int cp_convert_gcov(const cp_report *report, FILE *out, cp_error *error)
{
    cp_code code;
    writer w = {.out = out};
    int status = cp_code_collect(report, &code, error);

    cp_pool_init(&w.pool);
    if (status == 0) {
        prepare(&w, &code);
        put_all(&w, &code);
    }
    cp_pool_release(&w.pool);
    cp_code_release(&code);
    return status;
}
