/* SPDX-License-Identifier: MIT
 *
 * report_traces.c: `traces`; see report_text.h.
 *
 * Owns: the lines of one sample's labels at a time, and the texts of some values.
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

/* The texts of the last values: a large profile has few different ones. */
typedef struct value_texts {
    int64_t values[64];
    char *texts[64]; /* NULL: none yet */
} value_texts;

static void print_value(const cp_report *report, int64_t value, value_texts *known, FILE *out)
{
    uint64_t slot = cp_hash_bytes(&value, sizeof value, 0) % 64;

    if (!known->texts[slot] || known->values[slot] != value) {
        free(known->texts[slot]);
        known->texts[slot] = cp_report_value(report, value);
        known->values[slot] = value;
    }
    cp_print_right(known->texts[slot], 10, out);
}

/* Prints " label (inline)\n" after as many blanks as the text before has, in one piece if it is
 * short: a large profile has millions of lines. */
static void print_frame(const cp_frame *frame, bool first, bool inlined, FILE *out)
{
    static const char blanks[] = "             ", mark[] = " (inline)\n";
    size_t before = first ? 3 : sizeof blanks - 1;
    const char *after = inlined ? mark : "\n";
    size_t after_length = strlen(after);

    char line[256];
    if (before + frame->label_length + after_length >= sizeof line) {
        fwrite_unlocked(blanks, 1, before, out);
        fwrite_unlocked(frame->label, 1, frame->label_length, out);
        fwrite_unlocked(after, 1, after_length, out);
        return;
    }
    memcpy(line, blanks, before);
    memcpy(line + before, frame->label, frame->label_length);
    memcpy(line + before + frame->label_length, after, after_length + 1);
    fwrite_unlocked(line, 1, before + frame->label_length + after_length, out);
}

static void print_stack(const cp_report *report, const cp_sample *sample, FILE *out)
{
    const cp_frames *frames = &report->frames;

    for (uint32_t i = 0; i < sample->location_count; i++) {
        uint32_t first = frames->first_of[sample->locations[i]];
        uint32_t end = frames->first_of[sample->locations[i] + 1];

        for (uint32_t line = first; line < end; line++) {
            print_frame(&frames->frames[frames->of_line[line]], i == 0 && line == first,
                        line < end - 1, out);
        }
    }
}

static void free_texts(value_texts *known)
{
    for (size_t i = 0; i < sizeof known->texts / sizeof *known->texts; i++) {
        free(known->texts[i]);
    }
}

void cp_report_print_traces(const cp_report *report, FILE *out)
{
    const cp_profile *profile = report->profile;
    value_texts known = {0};

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
        print_value(report, cp_report_sample_value(report, i), &known, out);
        print_stack(report, sample, out);
    }
    fputs(SEPARATOR, out);
    free_texts(&known);
}
