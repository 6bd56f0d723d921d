/* SPDX-License-Identifier: MIT
 *
 * report.c: see report.h.
 *
 * Owns: intermediate graphs, until a report is ready.
 */
#include "report/report.h"

#include "base/base_name.h"
#include "base/measurement.h"
#include "base/message.h"
#include "profile/profile_file.h"
#include "profile/profile_filter.h"
#include "profile/profile_merge.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- loading ---- */

static int load_one(const char *path, cp_profile **out, cp_error *error)
{
    if (cp_profile_read_file(path, out, error) < 0) {
        return -1;
    }
    cp_profile_ensure_mapping(*out);
    return 0;
}

static int load_difference(const char *path, const char *base_path, cp_profile *source,
                           cp_profile **out, cp_error *error)
{
    cp_profile *base;

    if (load_one(base_path, &base, error) < 0) {
        cp_profile_free(source);
        return -1;
    }
    cp_error inner;
    if (cp_profile_subtract(source, base, out, &inner) < 0) {
        return cp_fail(error, "%.300s and %.300s: %.300s", path, base_path, inner.text);
    }
    return 0;
}

int cp_report_load(const char *path, const char *base, cp_demangle_mode mode, cp_profile **out,
                   cp_error *error)
{
    cp_profile *source;

    if (load_one(path, &source, error) < 0) {
        return -1;
    }
    if (base) {
        if (load_difference(path, base, source, out, error) < 0) {
            return -1;
        }
    } else {
        cp_profile_merge(&source, 1, out, error); /* cannot fail: there is only one profile */
        cp_profile_free(source);
    }
    cp_profile_demangle_as(*out, mode);
    cp_profile_prune(*out);
    cp_profile_forget_urls(*out);
    return 0;
}

/* ---- totals and filters ---- */

static int list_types(const cp_profile *profile, const char *wanted, cp_error *error)
{
    char types[512] = "";
    size_t length = 0;

    for (uint32_t i = 0; i < profile->sample_type_count && length < sizeof types; i++) {
        length += (size_t)snprintf(types + length, sizeof types - length, "%s%s", i ? ", " : "",
                                   cp_profile_text(profile, profile->sample_types[i].type));
    }
    return cp_fail(error, "expected a sample type of this profile (%s), found %.200s", types,
                   wanted);
}

static int choose_type(cp_report *report, cp_error *error)
{
    const cp_profile *profile = report->profile;

    if (profile->sample_type_count == 0) {
        return cp_fail(error,
                       "expected a profile with sample types, found none: the profile is empty");
    }
    int64_t index = cp_profile_sample_index(profile, report->options->sample);
    if (index < 0) {
        return list_types(profile, report->options->sample, error);
    }
    const cp_value_type *type = &profile->sample_types[index];
    report->value_index = (uint32_t)index;
    report->sample_type = cp_profile_text(profile, type->type);
    report->sample_unit = cp_profile_text(profile, type->unit);
    report->output_unit = CP_UNIT_MINIMUM;
    return 0;
}

static int64_t total_of(const cp_profile *profile, uint32_t value_index)
{
    uint64_t total = 0;

    for (uint32_t i = 0; i < profile->sample_count; i++) {
        total += (uint64_t)cp_measure_abs(profile->samples[i].values[value_index]);
    }
    return (int64_t)total;
}

static void apply_filters(cp_report *report)
{
    const cp_report_options *options = report->options;
    cp_focus_result result =
        cp_profile_focus(report->profile, options->focus_regex, options->ignore_regex);

    if (options->focus_regex && !result.focus_matched) {
        cp_complain("warning: --focus %s matches no function, file or program", options->focus);
    }
    if (options->ignore_regex && !result.ignore_matched) {
        cp_complain("warning: --ignore %s matches no function, file or program", options->ignore);
    }
}

/* ---- trimming ---- */

static int64_t fraction_of(int64_t value, double fraction)
{
    return cp_measure_abs(cp_measure_truncate((double)value * fraction));
}

/* Builds the graph again over the first `count` nodes of its order, and marks these in `kept`. */
static void rebuild(cp_report *report, uint32_t count, bool **kept)
{
    cp_graph *graph = &report->graph;

    free(*kept);
    *kept = cp_heap_alloc(report->frames.count, sizeof **kept);
    for (uint32_t i = 0; i < count; i++) {
        (*kept)[graph->order[i]] = true;
    }
    cp_graph_release(graph);
    cp_graph_init(graph, &report->frames, report->value_index, *kept, false);
}

/* Moves the frames with a cum value of at least `least` to the front of the order. Returns how many
 * these are. */
static uint32_t partition(cp_graph *graph, int64_t least)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < graph->count; i++) {
        if (cp_measure_abs(graph->nodes[graph->order[i]].cum) >= least) {
            graph->order[kept++] = graph->order[i];
        }
    }
    return kept;
}

/* Leaves out the frames that are too small, then the frames beyond the limit on rows. */
static void trim_graph(cp_report *report, int64_t sum, bool **kept)
{
    const cp_report_options *options = report->options;
    cp_graph *graph = &report->graph;
    int64_t least = fraction_of(sum, CP_NODE_FRACTION);

    if (least > 0) {
        uint32_t before = graph->count, large = partition(graph, least);

        report->dropped_nodes = before - large;
        if (large < before) {
            rebuild(report, large, kept);
        }
    }
    report->significant_nodes = graph->count;
    cp_graph_sort(graph, options->by_cum);
    if (options->node_count && options->node_count < graph->count) {
        rebuild(report, options->node_count, kept);
    }
}

/* Builds the edges only for the last graph, and only if functions are inlined: the edges show
 * which. */
static void build_graph(cp_report *report)
{
    cp_graph *graph = &report->graph;
    bool *kept = NULL;

    cp_frames_init(&report->frames, report->profile);
    cp_graph_init(graph, &report->frames, report->value_index, NULL, false);
    int64_t sum = cp_graph_flat_sum(graph);
    trim_graph(report, sum, &kept);
    if (cp_frames_have_inlined(&report->frames)) {
        cp_graph_release(graph);
        cp_graph_init(graph, &report->frames, report->value_index, kept, true);
        cp_graph_cut_edges(graph, fraction_of(sum, CP_EDGE_FRACTION));
    }
    cp_graph_sort(graph, report->options->by_cum);
    free(kept);
}

/* Chooses one unit for all rows: the one in which the smallest value shown is still readable. */
static void choose_unit(cp_report *report)
{
    const cp_graph *graph = &report->graph;
    int64_t least = 0;

    if (graph->count == 0) {
        return;
    }
    for (uint32_t i = 0; i < graph->count; i++) {
        const cp_node *node = &graph->nodes[graph->order[i]];
        int64_t value = cp_measure_abs(node->flat ? node->flat : node->cum);
        if (value > 0 && (least == 0 || value < least)) {
            least = value;
        }
    }
    if (least == 0) {
        least = report->total;
    }
    const char *least_unit;
    cp_measure_scale(least, report->sample_unit, CP_UNIT_MINIMUM, &least_unit);
    const char *total_unit;
    cp_measure_scale(report->total, report->sample_unit, CP_UNIT_MINIMUM, &total_unit);
    const char *unit = least_unit;
    /* Two decimals show a hundredth, so the unit may be a hundred times as large. */
    if (strcmp(least_unit, total_unit) != 0 && (int64_t)((uint64_t)least * 100) < report->total) {
        cp_measure_scale((int64_t)((uint64_t)least * 100), report->sample_unit, CP_UNIT_MINIMUM,
                         &unit);
    }
    report->output_unit = *unit ? unit : report->sample_unit;
}

int cp_report_init(cp_report *report, cp_profile *profile, const cp_report_options *options,
                   cp_error *error)
{
    memset(report, 0, sizeof *report);
    report->profile = profile;
    report->options = options;
    if (choose_type(report, error) < 0) {
        return -1;
    }
    report->total = total_of(profile, report->value_index);
    apply_filters(report);
    build_graph(report);
    choose_unit(report);
    return 0;
}

void cp_report_release(cp_report *report)
{
    cp_graph_release(&report->graph);
    cp_frames_release(&report->frames);
}

/* ---- text ---- */

char *cp_report_value(const cp_report *report, int64_t value)
{
    return cp_measure_label(value, report->sample_unit, report->output_unit);
}

static void print_file(const cp_report *report, FILE *out)
{
    const cp_profile *profile = report->profile;
    const cp_mapping *main_program = profile->mappings;

    if (profile->mapping_count == 0) {
        return;
    }
    if (main_program->file) {
        const char *file = cp_profile_text(profile, main_program->file);
        size_t length;
        const char *base = cp_base_name(file, &length);

        fprintf(out, "File: %.*s\n", (int)length, base);
    }
    if (main_program->build_id) {
        fprintf(out, "Build ID: %s\n", cp_profile_text(profile, main_program->build_id));
    }
}

static void print_time(int64_t time_nanos, FILE *out)
{
    int64_t seconds = time_nanos / 1000000000;

    if (time_nanos % 1000000000 < 0) {
        seconds--;
    }
    time_t moment = (time_t)seconds;
    struct tm local;
    if (!localtime_r(&moment, &local)) {
        return;
    }
    char text[128];
    if (strftime(text, sizeof text, "%b %-d, %Y at %-I:%M%P (%Z)", &local) > 0) {
        fprintf(out, "Time: %s\n", text);
    }
}

static void print_duration(const cp_report *report, FILE *out)
{
    char *duration = cp_measure_label(report->profile->duration_nanos, "nanoseconds", "auto");
    char *total = cp_report_value(report, report->total);
    const char *unit;
    double nanos = cp_measure_scale(report->total, report->sample_unit, "nanoseconds", &unit);

    fprintf(out, "Duration: %s, Total samples = %s ", duration, total);
    char percent[CP_PERCENT_BYTES];
    if (strcmp(unit, "ns") == 0 && nanos != 0) {
        cp_measure_percent(cp_measure_truncate(nanos), report->profile->duration_nanos, percent);
        fprintf(out, "(%s)", percent);
    }
    fputc('\n', out);
    free(duration);
    free(total);
}

void cp_report_print_profile(const cp_report *report, FILE *out)
{
    const cp_profile *profile = report->profile;

    print_file(report, out);
    for (uint32_t i = 0; i < profile->comment_count; i++) {
        const char *comment = cp_profile_text(profile, profile->comments[i]);
        if (comment[0] != '#') { /* comments with '#' are for programs */
            fprintf(out, "%s\n", comment);
        }
    }
    if (report->sample_type[0]) {
        fprintf(out, "Type: %s\n", report->sample_type);
    }
    if (profile->time_nanos) {
        print_time(profile->time_nanos, out);
    }
    if (profile->duration_nanos) {
        print_duration(report, out);
    }
}

static void print_filter(const char *name, const char *pattern, FILE *out)
{
    enum { SHOWN = 80 }; /* bytes of "name=pattern" */
    size_t name_length = strlen(name) + 1, length = strlen(pattern);

    if (name_length + length <= SHOWN) {
        fprintf(out, "   %s=%s\n", name, pattern);
    } else {
        fprintf(out, "   %s=%.*s\u2026\n", name, (int)(SHOWN - name_length), pattern);
    }
}

static void print_dropped(const cp_report *report, FILE *out)
{
    char *limit = cp_report_value(report, fraction_of(report->total, CP_NODE_FRACTION));

    fprintf(out, "Dropped %u node%s (cum <= %s)\n", report->dropped_nodes,
            report->dropped_nodes > 1 ? "s" : "", limit);
    free(limit);
}

void cp_report_print_summary(const cp_report *report, FILE *out)
{
    const cp_report_options *options = report->options;
    int64_t shown = cp_graph_flat_sum(&report->graph);
    char *shown_text = cp_report_value(report, shown);
    char *total_text = cp_report_value(report, report->total);

    if (options->focus || options->ignore) {
        fputs("Active filters:\n", out);
    }
    if (options->focus) {
        print_filter("focus", options->focus, out);
    }
    if (options->ignore) {
        print_filter("ignore", options->ignore, out);
    }
    char percent[CP_PERCENT_BYTES];
    cp_measure_percent(shown, report->total, percent);
    fprintf(out, "Showing nodes accounting for %s, %s of %s total\n", shown_text,
            percent + strspn(percent, " "), total_text);
    if (report->total && report->dropped_nodes) {
        print_dropped(report, out);
    }
    if (report->total && report->graph.count && report->graph.count < report->significant_nodes) {
        fprintf(out, "Showing top %u nodes out of %u\n", report->graph.count,
                report->significant_nodes);
    }
    free(shown_text);
    free(total_text);
}

static const char *inline_mark(const cp_graph *graph, const cp_node *node)
{
    bool inlined = false, called = false;

    for (uint32_t i = node->first_in; i != CP_NO_EDGE; i = graph->edges[i].next_in) {
        if (graph->edges[i].cut) {
            continue;
        }
        if (graph->edges[i].inlined) {
            inlined = true;
        } else {
            called = true;
        }
    }
    if (!inlined) {
        return "";
    }
    return called ? " (partial-inline)" : " (inline)";
}

/*
 * Prints the value right-aligned in ten columns. Columns are characters: a unit may be any UTF-8.
 */
static void print_value(const cp_report *report, int64_t value, FILE *out)
{
    enum { COLUMNS = 10 };
    char *text = cp_report_value(report, value);
    int columns = 0;

    for (const char *at = text; *at; at++) {
        columns += (*at & 0xc0) != 0x80;
    }
    fprintf(out, "%*s%s", columns < COLUMNS ? COLUMNS - columns : 0, "", text);
    free(text);
}

static void print_row(const cp_report *report, const cp_node *node, int64_t sum, FILE *out)
{
    const cp_frame *frame = &report->frames.frames[node->frame];

    print_value(report, node->flat, out);
    char percent[CP_PERCENT_BYTES];
    cp_measure_percent(node->flat, report->total, percent);
    fprintf(out, " %s", percent);
    cp_measure_percent(sum, report->total, percent);
    fprintf(out, " %s ", percent);
    print_value(report, node->cum, out);
    cp_measure_percent(node->cum, report->total, percent);
    fprintf(out, " %s  ", percent);
    fwrite(frame->label, 1, frame->label_length, out);
    fprintf(out, "%s\n", inline_mark(&report->graph, node));
}

void cp_report_print_rows(const cp_report *report, FILE *out)
{
    const cp_graph *graph = &report->graph;
    uint64_t sum = 0;

    fprintf(out, "%10s %5s%% %5s%% %10s %5s%%\n", "flat", "flat", "sum", "cum", "cum");
    for (uint32_t i = 0; i < graph->count; i++) {
        const cp_node *node = &graph->nodes[graph->order[i]];
        sum += (uint64_t)node->flat;
        print_row(report, node, (int64_t)sum, out);
    }
}
