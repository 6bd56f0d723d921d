/* SPDX-License-Identifier: MIT
 *
 * report_header.c: what stands above the tables of a report: the profile, the filters, what is
 * left out; and values in columns. See report_text.h.
 *
 * Tested by: unit.cmd_report, e2e.cpprof_top.
 */
#include "report/report_text.h"

#include "base/base_name.h"
#include "base/measurement.h"
#include "base/terminal.h"
#include "profile/profile_model.h"
#include "report/report.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- columns ---- */

void cp_print_right(const char *text, int columns, FILE *out)
{
    for (const char *at = text; *at; at++) {
        columns -= (*at & 0xc0) != 0x80;
    }
    fprintf(out, "%*s%s", columns > 0 ? columns : 0, "", text);
}

void cp_report_print_value(const cp_report *report, int64_t value, int columns, FILE *out)
{
    char *text = cp_report_value(report, value);

    cp_print_right(text, columns, out);
    free(text);
}

static void print_or_dot(const cp_report *report, int64_t value, FILE *out)
{
    if (value) {
        cp_report_print_value(report, value, 10, out);
    } else {
        cp_print_right(".", 10, out);
    }
}

void cp_report_print_line_costs(const cp_report *report, int64_t flat, int64_t cum, FILE *out)
{
    print_or_dot(report, flat, out);
    fputc(' ', out);
    print_or_dot(report, cum, out);
}

void cp_report_print_heading(const cp_report *report, const char *line, FILE *out)
{
    bool colored = report->options->colored;

    fprintf(out, "%s%s%s\n", cp_paint_begin(CP_PAINT_HEADING, colored), line,
            cp_paint_end(CP_PAINT_HEADING, colored));
}

/* A tenth of the total is much, a hundredth is little. */
static cp_paint paint_of(const cp_report *report, int64_t value)
{
    int64_t size = cp_measure_abs(value);

    if (size >= cp_report_fraction(report->total, 0.1)) {
        return size ? CP_PAINT_MUCH : CP_PAINT_NONE;
    }
    return size < cp_report_fraction(report->total, 0.01) ? CP_PAINT_LITTLE : CP_PAINT_NONE;
}

static void print_share(const cp_report *report, int64_t value, cp_paint paint, FILE *out)
{
    bool colored = report->options->colored;
    char percent[CP_PERCENT_BYTES];

    cp_measure_percent(value, report->total, percent);
    fprintf(out, " %s%s%s", cp_paint_begin(paint, colored), percent, cp_paint_end(paint, colored));
}

void cp_report_print_costs(const cp_report *report, const cp_node *node, int64_t sum, FILE *out)
{
    cp_report_print_value(report, node->flat, 10, out);
    print_share(report, node->flat, paint_of(report, node->flat), out);
    print_share(report, sum, CP_PAINT_NONE, out);
    fputc(' ', out);
    cp_report_print_value(report, node->cum, 10, out);
    print_share(report, node->cum, paint_of(report, node->cum), out);
}

/* ---- the profile ---- */

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

static void print_time(const cp_report *report, FILE *out)
{
    int64_t time_nanos = report->profile->time_nanos;
    int64_t seconds = time_nanos / 1000000000;

    if (time_nanos % 1000000000 < 0) {
        seconds--;
    }
    time_t moment = (time_t)seconds;
    struct tm local;
    if (!localtime_r(&moment, &local)) {
        return;
    }
    char text[128], zone[64];
    if (report->options->style != CP_STYLE_GO_1_19) {
        if (strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %Z", &local) > 0) {
            fprintf(out, "Time: %s\n", text);
        }
    } else if (strftime(text, sizeof text, "%b", &local) > 0) {
        size_t named =
            strftime(zone, sizeof zone, "%Z", &local); /* "%-d" and "%P" are glibc's own */
        fprintf(out, "Time: %s %d, %d at %d:%02d%s (%s)\n", text, local.tm_mday,
                local.tm_year + 1900, (local.tm_hour + 11) % 12 + 1, local.tm_min,
                local.tm_hour < 12 ? "am" : "pm", named > 0 ? zone : "");
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
    if (profile->doc_url && report->options->style == CP_STYLE_GO_1_26) {
        fprintf(out, "Doc: %s\n", cp_profile_text(profile, profile->doc_url));
    }
    if (profile->time_nanos) {
        print_time(report, out);
    }
    if (profile->duration_nanos) {
        print_duration(report, out);
    }
}

static void print_filter(const char *name, const char *pattern, FILE *out)
{
    enum { SHOWN = 80 }; /* bytes of "name=pattern" */
    size_t name_length = strlen(name) + 1, length = strlen(pattern);

    if (strcmp(name, cp_filter_name(CP_IGNORE_IDLE)) == 0) {
        fprintf(out, "   %s\n", name);
    } else if (name_length + length <= SHOWN) {
        fprintf(out, "   %s=%s\n", name, pattern);
    } else {
        fprintf(out, "   %s=%.*s\u2026\n", name, (int)(SHOWN - name_length), pattern);
    }
}

static void print_filters(const cp_filters *filters, FILE *out)
{
    bool any = false;

    for (int i = 0; i < CP_FILTERS; i++) {
        if (!filters->texts[i]) {
            continue;
        }
        if (!any) {
            fputs("Active filters:\n", out);
        }
        any = true;
        print_filter(cp_filter_name(i), filters->texts[i], out);
    }
}

static void print_dropped(const cp_report *report, uint32_t count, const char *what,
                          const char *value, double fraction, FILE *out)
{
    char *limit = cp_report_value(report, cp_report_fraction(report->total, fraction));

    if (report->total && count) {
        fprintf(out, "Dropped %u %s%s (%s <= %s)\n", count, what, count > 1 ? "s" : "", value,
                limit);
    }
    free(limit);
}

void cp_report_print_summary(const cp_report *report, FILE *out)
{
    const cp_report_options *options = report->options;
    int64_t shown = cp_graph_flat_sum(&report->graph);
    char *shown_text = cp_report_value(report, shown);
    char *total_text = cp_report_value(report, report->total);

    print_filters(&options->filters, out);
    char percent[CP_PERCENT_BYTES];
    cp_measure_percent(shown, report->total, percent);
    fprintf(out, "Showing nodes accounting for %s, %s of %s total\n", shown_text,
            percent + strspn(percent, " "), total_text);
    print_dropped(report, report->dropped_nodes, "node", "cum", CP_NODE_FRACTION, out);
    print_dropped(report, report->dropped_edges, "edge", "freq", CP_EDGE_FRACTION, out);
    if (report->total && report->graph.count && report->graph.count < report->significant_nodes) {
        fprintf(out, "Showing top %u nodes out of %u\n", report->graph.count,
                report->significant_nodes);
    }
    free(shown_text);
    free(total_text);
}
