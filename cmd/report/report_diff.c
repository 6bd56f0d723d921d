/* SPDX-License-Identifier: MIT
 *
 * report_diff.c: see report_diff.h.
 *
 * The samples of one side make a view of the profile, and the view a graph over the same frames.
 *
 * Owns: the views, while the rows are made.
 * Tested by: unit.cmd_diff, e2e.cpprof_diff.
 */
#include "report/report_diff.h"

#include "base/json.h"
#include "base/measurement.h"
#include "base/message.h"
#include "base/terminal.h"
#include "profile/profile_model.h"
#include "report/report.h"
#include "report/report_json.h"
#include "report/report_load.h"
#include "report/report_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The functions that are named if something grew too much. */
enum { NAMED = 10 };

bool cp_sample_is_of_base(const cp_profile *profile, const cp_sample *sample)
{
    for (uint32_t i = 0; i < sample->label_count; i++) {
        if (strcmp(cp_profile_text(profile, sample->labels[i].key), CP_BASE_LABEL) == 0) {
            return true;
        }
    }
    return false;
}

/* Adds up one side over the report's frames. Returns its total. */
static int64_t sum_side(const cp_report *report, bool base, cp_graph *graph)
{
    const cp_profile *profile = report->profile;
    cp_profile view = *profile;
    cp_frames frames = report->frames;
    uint64_t total = 0;

    view.samples = cp_heap_alloc(profile->sample_count, sizeof *view.samples);
    view.sample_count = 0;
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        if (cp_sample_is_of_base(profile, &profile->samples[i]) == base) {
            view.samples[view.sample_count++] = profile->samples[i];
            total += (uint64_t)cp_report_sample_value(report, i);
        }
    }
    frames.profile = &view;
    cp_graph_init(graph, &frames, report->value_index);
    free(view.samples);
    return (int64_t)total;
}

static int64_t value_of(const cp_report *report, const cp_node *node)
{
    return report->options->by_cum ? node->cum : node->flat;
}

static int64_t change_of(const cp_difference *row)
{
    return (int64_t)((uint64_t)row->now - (uint64_t)row->base);
}

static int compare_rows(const void *left, const void *right, void *context)
{
    const cp_report *report = context;
    const cp_difference *a = left, *b = right;
    int64_t x = cp_measure_abs(change_of(a)), y = cp_measure_abs(change_of(b));

    if (x != y) {
        return x > y ? -1 : 1;
    }
    int order =
        strcmp(report->frames.frames[a->frame].label, report->frames.frames[b->frame].label);
    return order ? order : (a->frame > b->frame) - (a->frame < b->frame);
}

void cp_differences_init(cp_differences *differences, const cp_report *report)
{
    cp_graph base, now;

    *differences = (cp_differences){.report = report};
    differences->base_total = (int64_t)(0 - (uint64_t)sum_side(report, true, &base));
    differences->now_total = sum_side(report, false, &now);
    differences->rows = cp_heap_alloc(report->frames.count, sizeof *differences->rows);
    for (uint32_t i = 0; i < report->frames.count; i++) {
        cp_difference row = {i, (int64_t)(0 - (uint64_t)value_of(report, &base.nodes[i])),
                             value_of(report, &now.nodes[i])};
        if (row.base != row.now) {
            differences->rows[differences->count++] = row;
        }
    }
    cp_graph_release(&base);
    cp_graph_release(&now);
    qsort_r(differences->rows, differences->count, sizeof *differences->rows, compare_rows,
            (void *)report);
}

void cp_differences_release(cp_differences *differences)
{
    free(differences->rows);
}

static double percent_of(const cp_differences *differences, int64_t change)
{
    if (change == 0) {
        return 0;
    }
    return differences->base_total
               ? 100 * (double)change / (double)cp_measure_abs(differences->base_total)
               : (double)INFINITY * (change > 0 ? 1 : -1);
}

static int64_t total_change(const cp_differences *differences)
{
    return (int64_t)((uint64_t)differences->now_total - (uint64_t)differences->base_total);
}

static uint32_t shown_rows(const cp_differences *differences)
{
    uint32_t limit = differences->report->options->node_count;

    return limit && limit < differences->count ? limit : differences->count;
}

/* ---- text ---- */

static void print_change(const cp_differences *differences, int64_t change, FILE *out)
{
    char *text = cp_report_value(differences->report, change);
    char *both = cp_heap_printf("%s%s", change > 0 ? "+" : "", text);
    bool colored = differences->report->options->colored;
    cp_paint paint = change > 0 ? CP_PAINT_MUCH : CP_PAINT_LESS;

    fputs(cp_paint_begin(paint, colored), out);
    cp_print_right(both, 12, out);
    fprintf(out, " %+8.2f%%%s", percent_of(differences, change), cp_paint_end(paint, colored));
    free(both);
    free(text);
}

static void print_row(const cp_differences *differences, int64_t base, int64_t now,
                      const char *name, FILE *out)
{
    cp_report_print_value(differences->report, base, 12, out);
    cp_report_print_value(differences->report, now, 12, out);
    print_change(differences, (int64_t)((uint64_t)now - (uint64_t)base), out);
    fprintf(out, "  %s\n", name);
}

void cp_differences_print(const cp_differences *differences, FILE *out)
{
    const cp_report *report = differences->report;
    uint32_t shown = shown_rows(differences);

    fprintf(out, "Type: %s (%s)\n", report->sample_type, report->options->by_cum ? "cum" : "flat");
    if (shown < differences->count) {
        fprintf(out, "Showing %u of %u functions that changed\n", shown, differences->count);
    }
    cp_report_print_heading(report, "        base         now      change   of base", out);
    print_row(differences, differences->base_total, differences->now_total, "total", out);
    for (uint32_t i = 0; i < shown; i++) {
        const cp_difference *row = &differences->rows[i];
        print_row(differences, row->base, row->now, report->frames.frames[row->frame].label, out);
    }
}

/* ---- limits ---- */

static void complain_of_row(const cp_differences *differences, int64_t change, const char *name)
{
    char *text = cp_report_value(differences->report, change);

    cp_complain("diff: %+8.2f%%  +%s  %s", percent_of(differences, change), text, name);
    free(text);
}

/* The growth of all rows that grew by more than the limit, the largest first. */
static uint32_t complain_of_rows(const cp_differences *differences, double limit)
{
    const cp_report *report = differences->report;
    uint32_t grown = 0;

    for (uint32_t i = 0; i < differences->count; i++) {
        const cp_difference *row = &differences->rows[i];

        if (percent_of(differences, change_of(row)) > limit && ++grown <= NAMED) {
            complain_of_row(differences, change_of(row), report->frames.frames[row->frame].label);
        }
    }
    if (grown > NAMED) {
        cp_complain("diff: and %u more", grown - NAMED);
    }
    return grown;
}

double cp_differences_growth(const cp_differences *differences, bool with_rows)
{
    double growth = percent_of(differences, total_change(differences));

    for (uint32_t i = 0; with_rows && i < differences->count; i++) {
        growth = fmax(growth, percent_of(differences, change_of(&differences->rows[i])));
    }
    return fmax(growth, 0);
}

bool cp_differences_complain(const cp_differences *differences)
{
    const cp_report_options *options = differences->report->options;
    double any = options->fail_above, whole = options->fail_above_total;
    double most = cp_differences_growth(differences, true),
           total = cp_differences_growth(differences, false);
    bool too_much = any > 0 && most > any, total_too_much = whole > 0 && total > whole;

    if (too_much) {
        cp_complain("diff: expected growth of at most %g %%, found %.2f %%:", any, most);
    }
    if (total_too_much) {
        cp_complain("diff: expected growth of the total of at most %g %%, found %.2f %%%s", whole,
                    total, too_much ? "" : ":");
    }
    if (total_too_much || (too_much && total > any)) {
        complain_of_row(differences, total_change(differences), "total");
    }
    if (too_much || total_too_much) {
        complain_of_rows(differences, too_much ? any : 0);
    }
    return too_much || total_too_much;
}

/* ---- JSON ---- */

static void put_values(cp_json *json, int64_t base, int64_t now)
{
    cp_json_number(json, "base", base);
    cp_json_number(json, "now", now);
    cp_json_number(json, "change", (int64_t)((uint64_t)now - (uint64_t)base));
}

void cp_differences_json(const cp_differences *differences, FILE *out)
{
    const cp_frames *frames = &differences->report->frames;
    cp_json json = cp_report_json_begin(differences->report, out);

    cp_json_open(&json, "total", '{');
    put_values(&json, differences->base_total, differences->now_total);
    cp_json_close(&json, '}');
    cp_json_open(&json, "rows", '[');
    for (uint32_t i = 0; i < shown_rows(differences); i++) {
        const cp_difference *row = &differences->rows[i];
        const cp_frame *frame = &frames->frames[row->frame];

        cp_json_open(&json, NULL, '{');
        cp_json_bytes(&json, "name", frame->label, frame->label_length);
        put_values(&json, row->base, row->now);
        cp_json_close(&json, '}');
    }
    cp_json_close(&json, ']');
    cp_report_json_end(&json);
}
