/* SPDX-License-Identifier: MIT
 *
 * report_traces.c: `traces`; see report_text.h.
 *
 * Owns: the lines of one sample's labels at a time.
 * Tested by: unit.cmd_reports, e2e.cpprof_reports.
 */
#include "report/report_text.h"

#include "base/measurement.h"
#include "report/report.h"
#include "report/sample_labels.h"

#include <stdlib.h>
#include <string.h>

#define SEPARATOR "-----------+-------------------------------------------------------\n"

static int compare_lines(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Returns the values of a key, separated by blanks; to be freed. */
static char *values_of(const cp_report *report, const cp_label *labels, uint32_t count)
{
    const char *unit = labels->numeric ? cp_label_unit(&report->label_units, labels->key) : NULL;
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    for (uint32_t i = 0; i < count; i++) {
        if (i) {
            fputc(' ', out);
        }
        if (unit) {
            char *value = cp_measure_label(labels[i].number, unit, "auto");
            fputs(value, out);
            free(value);
        } else {
            fputs(cp_profile_text(report->profile, labels[i].text), out);
        }
    }
    fclose(out);
    return text;
}

/* Returns "       key:  value"; to be freed. */
static char *line_of(const cp_report *report, const cp_label *labels, uint32_t count)
{
    char *values = values_of(report, labels, count);
    char *line = NULL;
    size_t length;
    FILE *out = open_memstream(&line, &length);

    cp_print_right(cp_profile_text(report->profile, labels->key), 10, out);
    fprintf(out, ":  %s\n", values);
    fclose(out);
    free(values);
    return line;
}

/* Text labels come first; both kinds in the order of their lines. */
static void print_labels(const cp_report *report, const cp_sample *sample, bool numeric, FILE *out)
{
    char **lines = cp_heap_alloc(sample->label_count, sizeof(char *));
    uint32_t count = 0;

    cp_label_group group = {0};
    while (cp_label_group_next(sample, &group)) {
        const cp_label *first = &sample->labels[group.first];
        if (first->numeric == numeric) {
            lines[count++] = line_of(report, first, group.end - group.first);
        }
    }
    qsort(lines, count, sizeof(char *), compare_lines);
    for (uint32_t i = 0; i < count; i++) {
        fputs(lines[i], out);
        free(lines[i]);
    }
    free(lines);
}

/* A large profile has millions of lines: no lock for each. */
static void put(const char *text, FILE *out)
{
    fputs_unlocked(text, out);
}

static void print_stack(const cp_report *report, const cp_sample *sample, int64_t value, FILE *out)
{
    const cp_frames *frames = &report->frames;

    cp_report_print_value(report, value, 10, out);
    for (uint32_t i = 0; i < sample->location_count; i++) {
        uint32_t first = frames->first_of[sample->locations[i]];
        uint32_t end = frames->first_of[sample->locations[i] + 1];

        for (uint32_t line = first; line < end; line++) {
            const cp_frame *frame = &frames->frames[frames->of_line[line]];

            put(i || line > first ? "             " : "   ", out);
            fwrite_unlocked(frame->label, 1, frame->label_length, out);
            put(line < end - 1 ? " (inline)\n" : "\n", out);
        }
    }
}

void cp_report_print_traces(const cp_report *report, FILE *out)
{
    const cp_profile *profile = report->profile;

    cp_report_print_profile(report, out);
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const cp_sample *sample = &profile->samples[i];

        if (sample->location_count == 0) {
            continue;
        }
        fputs(SEPARATOR, out);
        if (sample->label_count) {
            print_labels(report, sample, false, out);
            print_labels(report, sample, true, out);
        }
        print_stack(report, sample, cp_report_sample_value(report, i), out);
    }
    fputs(SEPARATOR, out);
}
