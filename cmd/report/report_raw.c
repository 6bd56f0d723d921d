/* SPDX-License-Identifier: MIT
 *
 * report_raw.c: `raw`; see report_text.h.
 *
 * Owns: the texts of one sample's labels at a time.
 * Tested by: unit.cmd_reports, e2e.cpprof_reports.
 */
#include "report/report_text.h"

#include "base/duration.h"
#include "profile/profile_model.h"
#include "report/report.h"
#include "report/sample_labels.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- the header ---- */

/* "2006-01-02 15:04:05.999999999 -0700 MST", without zeros at the end of the fraction. */
static void print_time(int64_t nanos, FILE *out)
{
    int64_t seconds = nanos / 1000000000, fraction = nanos % 1000000000;

    if (fraction < 0) {
        fraction += 1000000000;
        seconds--;
    }
    time_t moment = (time_t)seconds;
    struct tm local;
    if (!localtime_r(&moment, &local)) {
        return;
    }
    char text[128], digits[16];
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local);
    fprintf(out, "Time: %s", text);
    if (fraction) {
        int length = snprintf(digits, sizeof digits, ".%09" PRId64, fraction);
        while (digits[length - 1] == '0') {
            length--;
        }
        fprintf(out, "%.*s", length, digits);
    }
    strftime(text, sizeof text, "%z %Z", &local);
    fprintf(out, " %s\n", text);
}

/* Only the first four characters: that is how the Go tool prints it. */
static void print_duration(int64_t nanos, FILE *out)
{
    enum { SHOWN = 4 };
    char text[CP_DURATION_BYTES];
    size_t bytes = 0;

    cp_duration_text(nanos, text);
    for (int i = 0; i < SHOWN && text[bytes]; i++) {
        do {
            bytes++;
        } while ((text[bytes] & 0xc0) == 0x80);
    }
    fprintf(out, "Duration: %.*s\n", (int)bytes, text);
}

static void print_types(const cp_profile *profile, FILE *out)
{
    char *line = NULL;
    size_t length;
    FILE *text = open_memstream(&line, &length);

    for (uint32_t i = 0; i < profile->sample_type_count; i++) {
        const cp_value_type *type = &profile->sample_types[i];
        fprintf(text, "%s/%s%s ", cp_profile_text(profile, type->type),
                cp_profile_text(profile, type->unit),
                type->type == profile->default_sample_type ? "[dflt]" : "");
    }
    fclose(text);
    while (length && line[length - 1] == ' ') {
        line[--length] = '\0';
    }
    fprintf(out, "Samples:\n%s\n", line + strspn(line, " "));
    free(line);
}

static void print_header(const cp_report *report, FILE *out)
{
    const cp_profile *profile = report->profile;

    for (uint32_t i = 0; i < profile->comment_count; i++) {
        fprintf(out, "Comment: %s\n", cp_profile_text(profile, profile->comments[i]));
    }
    if (profile->doc_url && report->options->style == CP_STYLE_GO_1_26) {
        fprintf(out, "Doc: %s\n", cp_profile_text(profile, profile->doc_url));
    }
    if (profile->period_type.type || profile->period_type.unit) {
        fprintf(out, "PeriodType: %s %s\n", cp_profile_text(profile, profile->period_type.type),
                cp_profile_text(profile, profile->period_type.unit));
    }
    fprintf(out, "Period: %" PRId64 "\n", profile->period);
    if (profile->time_nanos) {
        print_time(profile->time_nanos, out);
    }
    if (profile->duration_nanos) {
        print_duration(profile->duration_nanos, out);
    }
    print_types(profile, out);
}

/* ---- samples ---- */

static int compare_texts(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static bool have_units(const cp_label *labels, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (labels[i].text) {
            return true;
        }
    }
    return false;
}

static void print_label(const cp_profile *profile, const cp_label *label, bool with_unit, FILE *out)
{
    const char *text = cp_profile_text(profile, label->text);

    if (!label->numeric) {
        fputs(text, out);
    } else if (with_unit) {
        fprintf(out, "%" PRId64 " %s", label->number, text);
    } else {
        fprintf(out, "%" PRId64, label->number);
    }
}

/* Returns "key:[value value]"; to be freed. */
static char *text_of(const cp_profile *profile, const cp_label *labels, uint32_t count)
{
    bool with_unit = have_units(labels, count);
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    fprintf(out, "%s:[", cp_profile_text(profile, labels->key));
    for (uint32_t i = 0; i < count; i++) {
        if (i) {
            fputc(' ', out);
        }
        print_label(profile, &labels[i], with_unit, out);
    }
    fputc(']', out);
    fclose(out);
    return text;
}

/* Prints a line with the text labels of a sample, or with the numeric ones, if there are any. */
static void print_labels(const cp_profile *profile, const cp_sample *sample, bool numeric,
                         FILE *out)
{
    char **texts = cp_heap_alloc(sample->label_count, sizeof(char *));
    uint32_t count = 0;

    cp_label_group group = {0};
    while (cp_label_group_next(sample, &group)) {
        const cp_label *first = &sample->labels[group.first];
        if (first->numeric == numeric) {
            texts[count++] = text_of(profile, first, group.end - group.first);
        }
    }
    qsort(texts, count, sizeof(char *), compare_texts);
    for (uint32_t i = 0; i < count; i++) {
        fprintf(out, "%s%s", i ? " " : "                ", texts[i]);
        free(texts[i]);
    }
    if (count) {
        fputc('\n', out);
    }
    free(texts);
}

static void print_sample(const cp_profile *profile, const cp_sample *sample, FILE *out)
{
    for (uint32_t i = 0; i < profile->sample_type_count; i++) {
        fprintf(out, " %10" PRId64, sample->values[i]);
    }
    fputs(": ", out);
    for (uint32_t i = 0; i < sample->location_count; i++) {
        fprintf(out, "%" PRIu64 " ", profile->locations[sample->locations[i]].id);
    }
    fputc('\n', out);
    if (sample->label_count) {
        print_labels(profile, sample, false, out);
        print_labels(profile, sample, true, out);
    }
}

/* ---- places ---- */

static void print_hex(uint64_t value, FILE *out)
{
    fprintf(out, "0x%" PRIx64, value);
}

static void print_line(const cp_report *report, const cp_line *line, FILE *out)
{
    const cp_profile *profile = report->profile;
    const cp_function *function = &profile->functions[line->function];

    fprintf(out, "%s %s:%" PRId64, cp_profile_text(profile, function->name),
            cp_profile_text(profile, function->filename), line->line);
    if (report->options->style == CP_STYLE_GO_1_26) {
        fprintf(out, ":%" PRId32, line->column);
    }
    fprintf(out, " s=%" PRId64, function->start_line);
    if (function->name != function->system_name) {
        fprintf(out, "(%s)", cp_profile_text(profile, function->system_name));
    }
    fputc('\n', out);
}

static void print_location(const cp_report *report, const cp_location *location, FILE *out)
{
    fprintf(out, "%6" PRIu64 ": ", location->id);
    print_hex(location->address, out);
    fputc(' ', out);
    if (location->mapping != CP_NO_MAPPING) {
        fprintf(out, "M=%" PRIu64 " ", report->profile->mappings[location->mapping].id);
    }
    fputs(location->folded ? "[F] " : "", out);
    for (uint32_t i = 0; i < location->line_count; i++) {
        fputs(i ? "             " : "", out);
        print_line(report, &location->lines[i], out);
    }
    if (location->line_count == 0) {
        fputc('\n', out);
    }
}

static void print_mapping(const cp_profile *profile, const cp_mapping *mapping, FILE *out)
{
    fprintf(out, "%" PRIu64 ": ", mapping->id);
    print_hex(mapping->start, out);
    fputc('/', out);
    print_hex(mapping->limit, out);
    fputc('/', out);
    print_hex(mapping->offset, out);
    fprintf(out, " %s %s %s%s%s%s\n", cp_profile_text(profile, mapping->file),
            cp_profile_text(profile, mapping->build_id), mapping->has_functions ? "[FN]" : "",
            mapping->has_filenames ? "[FL]" : "", mapping->has_line_numbers ? "[LN]" : "",
            mapping->has_inline_frames ? "[IN]" : "");
}

void cp_report_print_raw(const cp_report *report, FILE *out)
{
    const cp_profile *profile = report->profile;

    print_header(report, out);
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        print_sample(profile, &profile->samples[i], out);
    }
    fputs("Locations\n", out);
    for (uint32_t i = 0; i < profile->location_count; i++) {
        print_location(report, &profile->locations[i], out);
    }
    fputs("Mappings\n", out);
    for (uint32_t i = 0; i < profile->mapping_count; i++) {
        print_mapping(profile, &profile->mappings[i], out);
    }
}
