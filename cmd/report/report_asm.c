/* SPDX-License-Identifier: MIT
 *
 * report_asm.c: `list --asm`; see report_text.h and report_json.h.
 *
 *   locations that match -> routines (symbols) -> instructions (objdump) -> their lines
 *
 * A sample counts once for each instruction and routine that its stack has, as cum. A program's
 * debug information is read twice: for the routines, and for the lines of their instructions.
 *
 * Owns: everything that it has found, until the call ends; one source file at a time.
 * Tested by: e2e.cpprof_asm
 */
#include "report/report_text.h"

#include "base/base_name.h"
#include "base/measurement.h"
#include "base/message.h"
#include "base/printable.h"
#include "base/regex.h"
#include "names/binutils.h"
#include "profile/profile_lines.h"
#include "profile/profile_model.h"
#include "report/report.h"
#include "report/report_json.h"
#include "report/source_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { AFTER_LAST = 16 /* bytes after the last sample of a function whose end is unknown */ };

typedef struct instruction {
    uint64_t address; /* run-time */
    const char *text, *file;
    int64_t line, flat, cum;
} instruction;

typedef struct routine {
    uint32_t mapping;
    uint64_t start, stop, bias;
    const char *name;
    int64_t flat, cum;
    uint32_t last_sample; /* that counted; + 1 */
    uint32_t first, end;  /* instructions */
} routine;

typedef struct assembly {
    const cp_report *report;
    cp_pool *pool;
    uint32_t *order; /* locations that match, by mapping and address */
    uint32_t count;
    uint32_t *routine_of; /* by location: index + 1, or 0 */
    routine *routines;
    uint32_t routine_count;
    size_t routine_room;
    instruction *code;
    uint32_t code_count;
    size_t code_room;
    uint32_t base; /* the first location, or instruction, of the addresses that are asked for */
} assembly;

/* ---- routines ---- */

static bool matches(const cp_profile *profile, const cp_location *location, cp_regex *wanted)
{
    for (uint32_t i = 0; i < location->line_count; i++) {
        cp_string name = profile->functions[location->lines[i].function].name;
        if (cp_regex_match(wanted, cp_profile_text(profile, name),
                           cp_strings_length(&profile->strings, name))) {
            return true;
        }
    }
    return false;
}

static const char *name_at(const cp_profile *profile, const cp_location *location)
{
    uint32_t function = location->lines[location->line_count - 1].function;

    return cp_profile_text(profile, profile->functions[function].name);
}

static routine *add_routine(assembly *a, const cp_location *location)
{
    a->routines =
        cp_heap_grow(a->routines, a->routine_count, &a->routine_room, sizeof *a->routines);
    routine *r = &a->routines[a->routine_count++];
    *r = (routine){.mapping = location->mapping, .name = name_at(a->report->profile, location)};
    return r;
}

/* Places are told in any order: the routine may be there already. */
static routine *routine_from(assembly *a, const cp_location *location, uint64_t start)
{
    for (uint32_t i = a->routine_count; i > 0; i--) {
        routine *r = &a->routines[i - 1];
        if (r->mapping == location->mapping && r->start == start) {
            return r;
        }
    }
    routine *r = add_routine(a, location);
    r->start = start;
    return r;
}

static void take_routine(void *context, const pprof_dwarf_place *place)
{
    assembly *a = context;
    uint32_t index = a->order[a->base + place->index];
    const cp_location *location = &a->report->profile->locations[index];
    uint64_t stop = place->limit ? place->limit : location->address + AFTER_LAST;

    if (place->entry == 0) {
        return;
    }
    routine *r = routine_from(a, location, place->entry);
    r->bias = place->bias;
    r->stop = stop > r->stop ? stop : r->stop;
    a->routine_of[index] = (uint32_t)(r - a->routines) + 1;
}

/* Reads the part of a->order that is of one mapping. Returns where the next one begins. */
static uint32_t find_in_mapping(assembly *a)
{
    const cp_profile *profile = a->report->profile;
    uint32_t mapping = profile->locations[a->order[a->base]].mapping, end = a->base;

    while (end < a->count && profile->locations[a->order[end]].mapping == mapping) {
        end++;
    }
    uint64_t *addresses = cp_heap_alloc(end - a->base, sizeof *addresses);
    for (uint32_t i = a->base; i < end; i++) {
        addresses[i - a->base] = profile->locations[a->order[i]].address;
    }
    if (mapping != CP_NO_MAPPING) {
        cp_profile_find_lines(profile, mapping, a->report->options->any_build, addresses,
                              end - a->base, take_routine, a);
    }
    free(addresses);
    return end;
}

static int find_routines(assembly *a, cp_regex *wanted, cp_error *error)
{
    cp_profile *profile = a->report->profile;

    a->order = cp_heap_alloc((size_t)profile->location_count + 1, sizeof *a->order);
    a->routine_of = cp_heap_alloc((size_t)profile->location_count + 1, sizeof *a->routine_of);
    for (uint32_t i = 0; i < profile->location_count; i++) {
        if (matches(profile, &profile->locations[i], wanted)) {
            a->order[a->count++] = i;
        }
    }
    if (a->count == 0) {
        cp_fail(error, "expected a function that the expression matches, found none");
        return -1; /* spelled out for clang-analyzer, which does not see what cp_fail() returns */
    }
    qsort_r(a->order, a->count, sizeof *a->order, cp_location_order, profile);
    while (a->base < a->count) {
        a->base = find_in_mapping(a);
    }
    if (!a->routines) {
        cp_fail(error, "expected a function whose program is here, found none");
        return -1;
    }
    return 0;
}

/* ---- instructions ---- */

static void take_instruction(void *context, uint64_t address, const char *text)
{
    assembly *a = context;

    a->code = cp_heap_grow(a->code, a->code_count, &a->code_room, sizeof *a->code);
    a->code[a->code_count++] = (instruction){
        .address = address + a->routines[a->base].bias,
        .text = cp_pool_copy(a->pool, text, strlen(text)),
    };
}

static void take_line(void *context, const pprof_dwarf_place *place)
{
    assembly *a = context;
    const pprof_dwarf_function *innermost = &place->functions[0];
    instruction *i = &a->code[a->base + place->index];

    if (innermost->file) {
        cp_strings *strings = &a->report->profile->strings;
        i->file = cp_strings_get(strings, cp_strings_put(strings, innermost->file));
        i->line = innermost->line;
    }
}

static void find_lines(assembly *a, const routine *r)
{
    uint64_t *addresses = cp_heap_alloc((size_t)(r->end - r->first) + 1, sizeof *addresses);

    for (uint32_t i = r->first; i < r->end; i++) {
        addresses[i - r->first] = a->code[i].address;
    }
    a->base = r->first;
    cp_profile_find_lines(a->report->profile, r->mapping, a->report->options->any_build, addresses,
                          r->end - r->first, take_line, a);
    free(addresses);
}

static int disassemble(assembly *a, cp_error *error)
{
    const cp_profile *profile = a->report->profile;

    for (uint32_t i = 0; i < a->routine_count; i++) {
        routine *r = &a->routines[i];
        const char *file = cp_strings_raw(&profile->strings, profile->mappings[r->mapping].file);
        a->base = i;
        r->first = a->code_count;
        if (cp_disassemble(file, r->start - r->bias, r->stop - r->bias, take_instruction, a,
                           error) < 0) {
            return -1;
        }
        r->end = a->code_count;
        find_lines(a, r);
    }
    return 0;
}

/* ---- values ---- */

/* The last instruction that begins at the address or below: a caller's is inside its call. */
static instruction *instruction_at(assembly *a, const routine *r, uint64_t address)
{
    uint32_t lo = r->first, hi = r->end;

    while (lo < hi) {
        uint32_t middle = lo + (hi - lo) / 2;
        if (a->code[middle].address <= address) {
            lo = middle + 1;
        } else {
            hi = middle;
        }
    }
    return lo > r->first ? &a->code[lo - 1] : NULL;
}

static bool came_before(const cp_sample *sample, uint32_t at)
{
    for (uint32_t i = 0; i < at; i++) {
        if (sample->locations[i] == sample->locations[at]) {
            return true;
        }
    }
    return false;
}

static void count_frame(assembly *a, uint32_t number, uint32_t at)
{
    const cp_sample *sample = &a->report->profile->samples[number];
    uint32_t index = sample->locations[at], of = a->routine_of[index];
    uint64_t value = (uint64_t)cp_report_sample_value(a->report, number);

    if (of == 0) {
        return;
    }
    routine *r = &a->routines[of - 1];
    instruction *i = instruction_at(a, r, a->report->profile->locations[index].address);
    uint64_t flat = at == 0 ? value : 0;
    r->flat = (int64_t)((uint64_t)r->flat + flat);
    r->cum = (int64_t)((uint64_t)r->cum + (r->last_sample == number + 1 ? 0 : value));
    r->last_sample = number + 1;
    if (i) {
        i->flat = (int64_t)((uint64_t)i->flat + flat);
        i->cum = (int64_t)((uint64_t)i->cum + (came_before(sample, at) ? 0 : value));
    }
}

static void count(assembly *a)
{
    const cp_profile *profile = a->report->profile;

    for (uint32_t i = 0; i < profile->sample_count; i++) {
        for (uint32_t j = 0; j < profile->samples[i].location_count; j++) {
            count_frame(a, i, j);
        }
    }
}

/* ---- text ---- */

static bool is_same_line(const instruction *a, const instruction *b)
{
    return a->line == b->line && a->file && b->file && strcmp(a->file, b->file) == 0;
}

/* Prints the line of source that the instruction comes from. *open is the file's name. */
static void print_source(const assembly *a, const instruction *i, cp_source *source,
                         const char **open, FILE *out)
{
    size_t length = 0, base_length;
    const char *text = "", *base = cp_base_name(i->file, &base_length);
    cp_error ignored;

    if (*open != i->file) {
        cp_source_close(source);
        *open = i->file;
        cp_source_open(source, i->file, &a->report->options->sources, &ignored);
    }
    cp_source_line(source, i->line, &text, &length);
    fprintf(out, "%21s ", "");
    cp_put_printable(base, base_length, out);
    fprintf(out, ":%" PRId64 ": ", i->line);
    cp_put_printable(text, length, out);
    fputc('\n', out);
}

static void print_code(const assembly *a, const routine *r, FILE *out)
{
    cp_source source = {0};
    const char *open = NULL;

    for (uint32_t i = r->first; i < r->end; i++) {
        const instruction *code = &a->code[i];
        if (code->file && (i == r->first || !is_same_line(code, code - 1))) {
            print_source(a, code, &source, &open, out);
        }
        cp_report_print_line_costs(a->report, code->flat, code->cum, out);
        fprintf(out, " %10" PRIx64 ": ", code->address - r->bias);
        cp_put_printable(code->text, strlen(code->text), out);
        fputc('\n', out);
    }
    cp_source_close(&source);
}

static void print_routine(const assembly *a, const routine *r, FILE *out)
{
    char percent[CP_PERCENT_BYTES];

    cp_measure_percent(r->cum, a->report->total, percent);
    fprintf(out, "ROUTINE ======================== %s\n", r->name);
    cp_report_print_value(a->report, r->flat, 10, out);
    fputc(' ', out);
    cp_report_print_value(a->report, r->cum, 10, out);
    fprintf(out, " (flat, cum) %s of Total\n", percent);
    print_code(a, r, out);
}

static int by_name(const void *left, const void *right)
{
    const routine *a = left, *b = right;
    int order = strcmp(a->name, b->name);

    return order ? order : (a->start > b->start) - (a->start < b->start);
}

static void print_all(assembly *a, FILE *out)
{
    char *total = cp_report_value(a->report, a->report->total);

    fprintf(out, "Total: %s\n", total);
    free(total);
    for (uint32_t i = 0; i < a->routine_count; i++) {
        if (a->routines[i].cum) {
            print_routine(a, &a->routines[i], out);
        }
    }
}

/* ---- JSON ---- */

static void put_instruction(cp_json *json, const instruction *i, uint64_t bias)
{
    cp_json_open(json, NULL, '{');
    cp_json_unsigned(json, "address", i->address - bias);
    cp_json_text(json, "text", i->text);
    cp_json_number(json, "flat", i->flat);
    cp_json_number(json, "cum", i->cum);
    if (i->file) {
        cp_json_text(json, "file", i->file);
        cp_json_number(json, "line", i->line);
    }
    cp_json_close(json, '}');
}

static void put_routine(cp_json *json, const assembly *a, const routine *r)
{
    cp_json_open(json, NULL, '{');
    cp_json_text(json, "name", r->name);
    cp_json_number(json, "flat", r->flat);
    cp_json_number(json, "cum", r->cum);
    cp_json_open(json, "instructions", '[');
    for (uint32_t i = r->first; i < r->end; i++) {
        put_instruction(json, &a->code[i], r->bias);
    }
    cp_json_close(json, ']');
    cp_json_close(json, '}');
}

static void put_all(assembly *a, FILE *out)
{
    cp_json json = cp_report_json_begin(a->report, out);

    cp_json_open(&json, "routines", '[');
    for (uint32_t i = 0; i < a->routine_count; i++) {
        if (a->routines[i].cum) {
            put_routine(&json, a, &a->routines[i]);
        }
    }
    cp_json_close(&json, ']');
    cp_report_json_end(&json);
}

/* ---- both ---- */

static int report_on(const cp_report *report, cp_regex *wanted,
                     void (*show)(assembly *a, FILE *out), FILE *out, cp_error *error)
{
    assembly a = {.report = report, .pool = &report->profile->pool};
    int status = find_routines(&a, wanted, error);

    if (status == 0) {
        status = disassemble(&a, error);
    }
    if (status == 0) {
        count(&a);
        qsort(a.routines, a.routine_count, sizeof *a.routines, by_name);
        show(&a, out);
    }
    free(a.order);
    free(a.routine_of);
    free(a.routines);
    free(a.code);
    return status;
}

int cp_report_print_asm(const cp_report *report, cp_regex *wanted, FILE *out, cp_error *error)
{
    return report_on(report, wanted, print_all, out, error);
}

int cp_report_json_asm(const cp_report *report, cp_regex *wanted, FILE *out, cp_error *error)
{
    return report_on(report, wanted, put_all, out, error);
}
