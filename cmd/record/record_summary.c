/* SPDX-License-Identifier: MIT
 *
 * record_summary.c: see record_summary.h.
 *
 * Tested by: e2e.cpprof_record.
 */
#include "record/record_summary.h"

#include "base/measurement.h"
#include "base/message.h"
#include "base/printable.h"
#include "base/terminal.h"
#include "profile/profile_filter.h"
#include "profile/profile_lines.h"
#include "profile/profile_merge.h"
#include "profile/profile_model.h"
#include "record/record_child.h"
#include "record/record_diagnose.h"
#include "record/record_session.h"
#include "report/nameless.h"
#include "report/report.h"
#include "report/report_text.h"
#include "report/tag_table.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUMMARY_ROWS 10
#define MAX_HZ       1000000

#define SUMMARY_VALUES 5

/* The small programs that a shell starts take less. */
#define LEAST_CHILDREN_SECONDS 0.05

/* Prints a word for a shell: between quotes, unless it has only harmless characters. */
static void print_quoted(const char *word)
{
    bool plain = *word != '\0';

    for (const char *at = word; *at; at++) {
        plain = plain && (isalnum((unsigned char)*at) || strchr("/._-+,:@%=", *at));
    }
    if (plain) {
        fputs(word, stderr);
        return;
    }
    fputc('\'', stderr);
    for (; *word; word++) {
        if (*word == '\'') {
            fputs("'\\''", stderr);
        } else {
            fputc(*word, stderr);
        }
    }
    fputc('\'', stderr);
}

static void print_command(const cp_record_summary *summary, const char *command, size_t kind)
{
    fprintf(stderr, "%s ", command);
    if (strcmp(summary->session->options->kinds.list[kind].name, "wall") == 0) {
        fputs("--ignore-idle ", stderr);
    }
    if (summary->sample[kind]) {
        fprintf(stderr, "--sample %s ", summary->sample[kind]);
    }
    print_quoted(summary->session->outputs[kind]);
    fputc('\n', stderr);
}

void cp_record_print_next(const cp_record_summary *summary)
{
    size_t count = summary->session->options->kinds.count, first = count;

    for (size_t i = 0; i < count; i++) {
        if (summary->shown[i]) {
            print_command(summary,
                          first < count ? "      cpprof top --cum" : "\nNext: cpprof top --cum", i);
            first = first < count ? first : i;
        }
    }
    if (first < count) {
        print_command(summary, "      cpprof flame", first);
    }
}

/* Prints the library's comments on losses and refusals; not those that only count. */
static void print_troubles(const cp_profile *profile)
{
    for (uint32_t i = 0; i < profile->comment_count; i++) {
        const char *comment = cp_profile_text(profile, profile->comments[i]);

        if (strncmp(comment, "libpprof: ", 10) == 0 && !strstr(comment, " whole stack") &&
            !strstr(comment, " looks at all threads")) {
            cp_put_printable(comment, strlen(comment), stderr);
            fputc('\n', stderr);
        }
    }
}

void cp_record_say_missing(const cp_record_summary *summary, size_t kind)
{
    const char *output = summary->session->outputs[kind];
    struct stat info;

    if (lstat(output, &info) == 0 && S_ISREG(info.st_mode)) {
        cp_complain("%s is from an earlier run and was not changed", output);
    }
}

/* Whether the command's children used most of the CPU time. */
static bool is_wrapper(const cp_record_summary *summary)
{
    const cp_child *child = summary->child;

    return summary->session->options->alone && child->children_seconds >= LEAST_CHILDREN_SECONDS &&
           child->children_seconds > 2 * child->seconds;
}

void cp_record_advise(const cp_record_summary *summary)
{
    if (is_wrapper(summary)) {
        cp_complain("the processes that the command started used %.2f s of CPU time, the command "
                    "itself %.2f s; without --no-subprocesses they are recorded too",
                    summary->child->children_seconds, summary->child->seconds);
    }
}

static void print_absence(const cp_record_summary *summary, size_t kind)
{
    const cp_record_options *options = summary->session->options;
    const char *name = options->kinds.list[kind].name;
    const cp_record_traits *traits = cp_record_traits_of(name);
    const char *why = traits->empty;

    if (why && traits->has_heaps_rate && strcmp(options->kinds.list[kind].rate, "1") != 0) {
        if (summary->has_own_rates) {
            cp_complain("no samples: %s; the process takes every block with the option heap:1",
                        why);
        } else {
            cp_complain("no samples: %s; -e %s:1 takes every block", why, name);
        }
        return;
    }
    if (strcmp(name, "cpu") != 0) {
        cp_complain("no samples: %s",
                    why ? why : "the command did nothing that such a profile counts");
        return;
    }
    if (is_wrapper(summary)) {
        cp_complain("no samples: the command itself used hardly any CPU time");
        return;
    }
    cp_complain("no samples: the command used less CPU time than the %g ms between two of them; "
                "try -F %ld",
                1000.0 / (double)options->hz,
                options->hz < MAX_HZ / 10 ? options->hz * 10 : MAX_HZ);
}

/* A heap profile may have samples although nothing is in use at the end: then it shows the
 * allocations. */
static int init_report(cp_report *report, cp_profile *profile, cp_report_options *options,
                       bool is_heap)
{
    cp_error error;
    int status = cp_report_init(report, profile, options, &error);

    if (status == 0 && report->total == 0 && is_heap) {
        cp_report_release(report);
        options->sample = "alloc_space";
        status = cp_report_init(report, profile, options, &error);
    }
    if (status < 0) {
        cp_complain("%s", error.text);
    }
    return status;
}

/* Prints what each value of a label has of the total, if there are several. */
static void print_values(const cp_report *report, const char *key)
{
    cp_tags tags;
    cp_tags_init(&tags, report);
    uint32_t first = 0;
    while (first < tags.count && strcmp(tags.rows[first].key, key) != 0) {
        first = cp_tags_end(&tags, first);
    }
    uint32_t end = first < tags.count ? cp_tags_end(&tags, first) : first;
    if (end - first > 1) {
        fprintf(stderr, "By %s:\n", key);
    }
    for (uint32_t i = first; end - first > 1 && i < end && i - first < SUMMARY_VALUES; i++) {
        char *value = cp_report_value(report, tags.rows[i].sum);
        char percent[CP_PERCENT_BYTES];

        cp_measure_percent(tags.rows[i].sum, report->total, percent);
        fprintf(stderr, "%10s %s  %s\n", value, percent, tags.rows[i].value);
        free(value);
    }
    cp_tags_release(&tags);
}

static void print_top(cp_record_summary *summary, size_t kind, cp_profile *profile)
{
    const char *name = summary->session->options->kinds.list[kind].name;
    cp_report_options options = {.node_count = SUMMARY_ROWS,
                                 .colored = cp_color_wanted(CP_COLOR_AUTO, STDERR_FILENO),
                                 .by_cum = !cp_record_traits_of(name)->is_by_flat};

    cp_profile_add_lines(profile, &(cp_lines_options){.wanted = CP_LINES_NAMELESS});
    cp_profile_demangle(profile);
    cp_profile_prune(profile);
    cp_report report;
    if (init_report(&report, profile, &options, strcmp(name, "heap") == 0) < 0) {
        return;
    }
    if (report.total == 0) {
        print_absence(summary, kind);
    } else {
        if (strcmp(name, "cpu") != 0) {
            fprintf(stderr, "Type: %s\n", report.sample_type);
        }
        cp_report_build_graph(&report, false);
        cp_report_print_summary(&report, stderr);
        cp_report_print_rows(&report, stderr);
        print_values(&report, "process");
        if (strcmp(name, "wall") == 0) {
            print_values(&report, "state");
        }
        cp_nameless_advise(&report);
        summary->shown[kind] = true;
        summary->sample[kind] = options.sample;
    }
    cp_report_release(&report);
}

/* Says by which name reports show a command that is a symbolic link: the kernel and the profile
 * know only the file. */
static void print_other_name(const char *command, const cp_profile *profile)
{
    char *file = cp_diagnose_other_name(command);

    if (file && profile->mapping_count &&
        strcmp(file, cp_profile_text(profile, profile->mappings[0].file)) == 0) {
        cp_complain("%s is a link to %s: reports show it by that name", command, file);
    }
    free(file);
}

void cp_record_summarize(cp_record_summary *summary, size_t kind, cp_profile *profile)
{
    const cp_session *session = summary->session;

    cp_complain("wrote %s (%u process%s)", session->outputs[kind], session->processes,
                session->processes == 1 ? "" : "es");
    if (summary->written++ == 0 && summary->command) {
        print_other_name(summary->command, profile);
    }
    print_troubles(profile);
    cp_profile *compact;
    cp_error error;
    if (cp_profile_merge(&profile, 1, &compact, &error) == 0) {
        print_top(summary, kind, compact);
        cp_profile_free(compact);
    }
}
