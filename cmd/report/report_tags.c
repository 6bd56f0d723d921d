/* SPDX-License-Identifier: MIT
 *
 * report_tags.c: `tags`; see report_text.h.
 *
 * Owns: the texts of one row at a time.
 * Tested by: unit.cmd_reports, e2e.cpprof_reports.
 */
#include "report/report_text.h"

#include "base/measurement.h"
#include "report/report.h"
#include "report/tag_table.h"

#include <stdlib.h>
#include <string.h>

static bool is_old(const cp_report *report)
{
    return report->options->style == CP_STYLE_GO_1_19;
}

/* The value as the version prints it: Go 1.19 has one decimal, later versions as many as needed. */
static char *value_text(const cp_report *report, int64_t value)
{
    const char *unit;

    if (!is_old(report)) {
        return cp_report_value(report, value);
    }
    double scaled = cp_measure_scale(value, report->sample_unit, report->output_unit, &unit);
    return cp_heap_printf("%.1f%s", scaled, unit);
}

/* Percentages are of the key's total in Go 1.19, of the profile's in later versions. */
static int64_t whole_of(const cp_report *report, int64_t sum)
{
    return is_old(report) ? sum : report->total;
}

/* Returns "value (percent):"; to be freed. */
static char *cell_of(const cp_report *report, const cp_tag *tag, int64_t sum)
{
    int64_t whole = whole_of(report, sum);
    char percent[CP_PERCENT_BYTES];
    char *value = value_text(report, tag->sum);

    cp_measure_percent(tag->sum, whole, percent);
    char *cell =
        whole > 0 ? cp_heap_printf("%s (%s):", value, percent) : cp_heap_printf("%s:", value);
    free(value);
    return cell;
}

static int columns_of(const char *text)
{
    int columns = 0;

    for (; *text; text++) {
        columns += (*text & 0xc0) != 0x80;
    }
    return columns;
}

static void print_total(const cp_report *report, int64_t sum, FILE *out)
{
    char *part = value_text(report, sum), *whole = value_text(report, report->total);
    char percent[CP_PERCENT_BYTES];

    fprintf(out, " Total %s", part);
    if (!is_old(report)) {
        fprintf(out, " of %s", whole);
    }
    if (!is_old(report) && report->total > 0) {
        cp_measure_percent(sum, report->total, percent);
        fprintf(out, " (%s)", percent);
    }
    fputc('\n', out);
    free(part);
    free(whole);
}

/* Each column is as wide as its widest cell, and has one blank before it. */
static void print_key(const cp_report *report, const cp_tags *tags, uint32_t first, uint32_t end,
                      FILE *out)
{
    int64_t sum = cp_tags_sum(tags, first, end);
    const char *key = tags->rows[first].key;
    char **cells = cp_heap_alloc(end - first, sizeof(char *));
    int width = 0;

    for (uint32_t i = first; i < end; i++) {
        cells[i - first] = cell_of(report, &tags->rows[i], sum);
        int columns = columns_of(cells[i - first]);
        width = columns > width ? columns : width;
    }
    fprintf(out, " %s:", key);
    print_total(report, sum, out);
    for (uint32_t i = first; i < end; i++) {
        fprintf(out, "%*s", columns_of(key) + 2, "");
        cp_print_right(cells[i - first], width + 1, out);
        fprintf(out, " %s\n", tags->rows[i].value);
        free(cells[i - first]);
    }
    fputc('\n', out);
    free(cells);
}

void cp_report_print_tags(const cp_report *report, FILE *out)
{
    cp_tags tags;

    cp_tags_init(&tags, report);
    for (uint32_t first = 0; first < tags.count;) {
        uint32_t end = cp_tags_end(&tags, first);
        print_key(report, &tags, first, end, out);
        first = end;
    }
    cp_tags_release(&tags);
}
