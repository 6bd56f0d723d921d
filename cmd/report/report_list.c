/* SPDX-License-Identifier: MIT
 *
 * report_list.c: `list`; see report_text.h and report_json.h.
 *
 * The nodes of the graph are lines here. Those of the wanted functions are sorted by function, file
 * and line; a run of one function and file is one piece of source.
 *
 * Owns: the sorted nodes, and one source file at a time.
 * Tested by: unit.cmd_list, e2e.cpprof_list.
 */
#include "report/report_text.h"

#include "base/json.h"
#include "base/measurement.h"
#include "base/message.h"
#include "base/printable.h"
#include "base/regex.h"
#include "profile/profile_model.h"
#include "report/report.h"
#include "report/report_json.h"
#include "report/shown_sources.h"
#include "report/source_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MARGIN 5 /* lines before the first one with samples, and after the last one */

typedef struct listing {
    const cp_report *report;
    const cp_node **nodes;
    uint32_t count;
    cp_source_ages ages;
} listing;

/* Nodes first to end - 1 are of one function in one file. */
typedef struct piece {
    uint32_t first, end;
    int64_t from, to; /* lines */
    int64_t flat, cum;
} piece;

static const cp_frame_key *key_of(const listing *l, uint32_t node)
{
    return &l->report->frames.frames[l->nodes[node]->frame].key;
}

static const char *text_of(const listing *l, cp_string string)
{
    return cp_profile_text(l->report->profile, string);
}

/* ---- the nodes ---- */

static int compare_nodes(const void *left, const void *right, void *context)
{
    const cp_report *report = context;
    const cp_frame_key *a = &report->frames.frames[(*(const cp_node *const *)left)->frame].key;
    const cp_frame_key *b = &report->frames.frames[(*(const cp_node *const *)right)->frame].key;
    int order = strcmp(cp_profile_text(report->profile, a->name),
                       cp_profile_text(report->profile, b->name));

    if (order == 0) {
        order = strcmp(cp_profile_text(report->profile, a->file),
                       cp_profile_text(report->profile, b->file));
    }
    return order ? order : (a->line > b->line) - (a->line < b->line);
}

/* The caller calls release(), also if no function matches. */
static int collect(listing *l, const cp_report *report, cp_regex *wanted, cp_error *error)
{
    const cp_graph *graph = &report->graph;

    *l = (listing){.report = report, .nodes = cp_heap_alloc(graph->count, sizeof(cp_node *))};
    for (uint32_t i = 0; i < graph->count; i++) {
        const cp_node *node = &graph->nodes[graph->order[i]];
        cp_string name = report->frames.frames[node->frame].key.name;
        const cp_strings *strings = &report->profile->strings;

        if (cp_regex_match(wanted, cp_strings_get(strings, name),
                           cp_strings_length(strings, name))) {
            l->nodes[l->count++] = node;
        }
    }
    if (l->count == 0) {
        return cp_fail(error, "expected a function that the expression matches, found none");
    }
    qsort_r(l->nodes, l->count, sizeof(cp_node *), compare_nodes, (void *)report);
    cp_shown_sources_init(&l->ages, report);
    return 0;
}

static void release(listing *l)
{
    free(l->nodes);
    cp_source_ages_release(&l->ages);
}

/* Adds a node's line to the lines of the piece that are shown. */
static void widen(piece *p, const cp_frame_key *key)
{
    int64_t from = key->start_line ? key->start_line : key->line - MARGIN;

    if (from < p->from) {
        p->from = from;
    }
    if (key->line + MARGIN > p->to) {
        p->to = key->line + MARGIN;
    }
}

static piece piece_at(const listing *l, uint32_t first)
{
    const cp_frame_key *key = key_of(l, first);
    piece p = {.first = first, .end = first, .from = INT64_MAX, .to = INT64_MIN};

    while (p.end < l->count && key_of(l, p.end)->name == key->name &&
           key_of(l, p.end)->file == key->file) {
        p.flat = (int64_t)((uint64_t)p.flat + (uint64_t)l->nodes[p.end]->flat);
        p.cum = (int64_t)((uint64_t)p.cum + (uint64_t)l->nodes[p.end]->cum);
        widen(&p, key_of(l, p.end++));
    }
    if (p.from < 1) {
        p.from = 1;
    }
    return p;
}

/* Adds up the nodes of a line. *at goes on from line to line. */
static void sum_line(const listing *l, const piece *p, int64_t line, uint32_t *at, int64_t sums[2])
{
    sums[0] = sums[1] = 0;
    while (*at < p->end && key_of(l, *at)->line < line) {
        ++*at;
    }
    for (; *at < p->end && key_of(l, *at)->line == line; ++*at) {
        sums[0] = (int64_t)((uint64_t)sums[0] + (uint64_t)l->nodes[*at]->flat);
        sums[1] = (int64_t)((uint64_t)sums[1] + (uint64_t)l->nodes[*at]->cum);
    }
}

/* ---- text ---- */

static void print_lines(const listing *l, const piece *p, const cp_source *source, FILE *out)
{
    uint32_t at = p->first;
    const char *text;
    size_t length;

    for (int64_t line = p->from; line <= p->to && cp_source_line(source, line, &text, &length);
         line++) {
        int64_t sums[2];

        sum_line(l, p, line, &at, sums);
        cp_report_print_line_costs(l->report, sums[0], sums[1], out);
        fprintf(out, " %6" PRId64 ":", line);
        cp_put_printable(text, length, out);
        fputc('\n', out);
    }
}

/* Opens the source of a piece, and complains if it was edited since. */
static int open_source(listing *l, const cp_frame_key *key, cp_source *source, cp_error *error)
{
    if (cp_source_open(source, cp_strings_raw(&l->report->profile->strings, key->file),
                       &l->report->options->sources, error) < 0) {
        return -1;
    }
    cp_source_ages_check(&l->ages, key->file, &source->info);
    return 0;
}

static void print_piece(listing *l, const piece *p, FILE *out)
{
    const cp_frame_key *key = key_of(l, p->first);
    char percent[CP_PERCENT_BYTES];
    cp_source source;
    cp_error error;

    cp_measure_percent(p->cum, l->report->total, percent);
    char *heading = cp_heap_printf("ROUTINE ======================== %s in %s",
                                   text_of(l, key->name), text_of(l, key->file));
    cp_report_print_heading(l->report, heading, out);
    free(heading);
    cp_report_print_value(l->report, p->flat, 10, out);
    fputc(' ', out);
    cp_report_print_value(l->report, p->cum, 10, out);
    fprintf(out, " (flat, cum) %s of Total\n", percent);
    if (open_source(l, key, &source, &error) < 0) {
        fprintf(out, " Error: %s\n", error.text);
        return;
    }
    print_lines(l, p, &source, out);
    cp_source_close(&source);
}

/* Whether some node of the function has a file. The nodes without one are the first. */
static bool has_source(const listing *l, uint32_t first)
{
    cp_string name = key_of(l, first)->name;

    while (first < l->count && key_of(l, first)->name == name) {
        if (key_of(l, first++)->file) {
            return true;
        }
    }
    return false;
}

int cp_report_print_list(const cp_report *report, cp_regex *wanted, FILE *out, cp_error *error)
{
    listing l;

    if (collect(&l, report, wanted, error) < 0) {
        release(&l);
        return -1;
    }
    char *total = cp_report_value(report, report->total);
    fprintf(out, "Total: %s\n", total);
    free(total);
    for (uint32_t first = 0; first < l.count;) {
        piece p = piece_at(&l, first);
        const cp_frame_key *key = key_of(&l, first);

        if (key->file) {
            print_piece(&l, &p, out);
        } else if (!has_source(&l, first)) {
            fprintf(out, "No source information for %s\n", text_of(&l, key->name));
        }
        first = p.end;
    }
    release(&l);
    return 0;
}

/* ---- JSON ---- */

static void put_lines(cp_json *json, const listing *l, const piece *p, const cp_source *source)
{
    uint32_t at = p->first;
    const char *text;
    size_t length;

    cp_json_open(json, "lines", '[');
    for (int64_t line = p->from; line <= p->to && cp_source_line(source, line, &text, &length);
         line++) {
        int64_t sums[2];

        sum_line(l, p, line, &at, sums);
        cp_json_open(json, NULL, '{');
        cp_json_number(json, "line", line);
        cp_json_number(json, "flat", sums[0]);
        cp_json_number(json, "cum", sums[1]);
        cp_json_bytes(json, "text", text, length);
        cp_json_close(json, '}');
    }
    cp_json_close(json, ']');
}

static void put_piece(cp_json *json, listing *l, const piece *p)
{
    const cp_frame_key *key = key_of(l, p->first);
    cp_source source = {0};
    cp_error error;

    cp_json_open(json, NULL, '{');
    cp_json_text(json, "name", text_of(l, key->name));
    cp_json_text(json, "file", text_of(l, key->file));
    cp_json_number(json, "flat", p->flat);
    cp_json_number(json, "cum", p->cum);
    if (!key->file) {
        cp_json_text(json, "error", "no source information");
    } else if (open_source(l, key, &source, &error) < 0) {
        cp_json_text(json, "error", error.text);
    }
    put_lines(json, l, p, &source);
    cp_source_close(&source);
    cp_json_close(json, '}');
}

int cp_report_json_list(const cp_report *report, cp_regex *wanted, FILE *out, cp_error *error)
{
    listing l;

    if (collect(&l, report, wanted, error) < 0) {
        release(&l);
        return -1;
    }
    cp_json json = cp_report_json_begin(report, out);
    cp_json_open(&json, "functions", '[');
    for (uint32_t first = 0; first < l.count;) {
        piece p = piece_at(&l, first);

        put_piece(&json, &l, &p);
        first = p.end;
    }
    cp_json_close(&json, ']');
    cp_report_json_end(&json);
    release(&l);
    return 0;
}
