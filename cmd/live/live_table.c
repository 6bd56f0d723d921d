/* SPDX-License-Identifier: MIT
 *
 * live_table.c: see live_table.h.
 *
 *   history -> profile of the window -> names -> report -> lines
 *
 * Owns: the profile and the report for the length of a call.
 * Tested by: e2e.cpprof_live
 */
#include "live/live_table.h"

#include "base/duration.h"
#include "base/measurement.h"
#include "base/message.h"
#include "base/pool.h"
#include "base/printable.h"
#include "live/live_history.h"
#include "profile/profile_model.h"
#include "report/report_json.h"
#include "report/report_text.h"
#include "report/tag_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NS_PER_S INT64_C(1000000000)

typedef struct window {
    const cp_live_matter *matter;
    const cp_live_view *view;
    int64_t elapsed_ns;
    cp_report report;
    int64_t samples, lost; /* lost: their stacks are not known */
} window;

/* ---- above the rows ---- */

/* "0.99s", or "12m3s": always as wide as the last time, or nearly so. */
static void print_duration(int64_t ns, FILE *out)
{
    char text[CP_DURATION_BYTES];

    if (ns < 100 * NS_PER_S) {
        fprintf(out, "%.2fs", (double)ns / (double)NS_PER_S);
        return;
    }
    cp_duration_text(ns / NS_PER_S * NS_PER_S, text);
    fputs(text, out);
}

/* "cpu: the last 1.00s, every 1s  1234 redis-server *:6379" */
static void print_title(const cp_live_matter *m, int64_t elapsed_ns, FILE *out)
{
    const cp_live_state *state = m->state;

    fprintf(out, "%s: ", cp_live_views[state->view].title);
    if (elapsed_ns > 0) {
        fputs(state->since_start ? "since the start, " : "the last ", out);
        print_duration(elapsed_ns, out);
    } else {
        fputs("now", out);
    }
    fprintf(out, ", every %.3gs%s%s  ", (double)m->pace_ns / (double)NS_PER_S,
            state->by_cum ? ", by cum" : "", state->is_paused ? ", paused" : "");
    cp_put_printable(m->name, strlen(m->name), out);
    fputc('\n', out);
}

static void print_cpu(const cp_process_load *load, FILE *out)
{
    if (load->cpu >= 0) {
        fprintf(out, "CPU %.1f%% of %ld  ", load->cpu * 100, sysconf(_SC_NPROCESSORS_ONLN));
    }
}

static void print_threads(const cp_process_load *load, FILE *out)
{
    fprintf(out, "  threads %zu, %zu busy", load->threads, load->busy);
    if (load->busiest[0]) {
        fputs(": ", out);
        cp_put_printable(load->busiest, strlen(load->busiest), out);
        fprintf(out, " %.0f%%", load->most * 100);
    }
}

/* What was counted before the filters. */
static void print_total(const window *w, FILE *out)
{
    const cp_report *report = &w->report;
    char *total = cp_measure_label(report->total, report->sample_unit, "auto");

    fprintf(out, "total %s", total);
    free(total);
    if (w->view == cp_live_views) {
        fprintf(out, ", %lld samples, %lld lost", (long long)w->samples, (long long)w->lost);
    }
}

/* "state: poll 75%, running 25%", if the samples have that label. */
static void print_states(const window *w, FILE *out)
{
    cp_tags tags;
    const char *before = "state:";

    cp_tags_init(&tags, &w->report);
    for (uint32_t i = 0; i < tags.count; i++) {
        char percent[CP_PERCENT_BYTES];

        if (strcmp(tags.rows[i].key, "state") != 0 || tags.rows[i].sum <= 0) {
            continue;
        }
        cp_measure_percent(tags.rows[i].sum, w->report.total, percent);
        fprintf(out, "%s %s %s", before, tags.rows[i].value, percent + strspn(percent, " "));
        before = ",";
    }
    fputs(*before == ',' ? "\n" : "", out);
    cp_tags_release(&tags);
}

/* "focus=RE hide=RE: 45.2% of the total" */
static void print_filters(const window *w, FILE *out)
{
    const cp_filters *filters = &w->report.options->filters;
    char percent[CP_PERCENT_BYTES];
    bool any = false;

    for (int i = 0; i < CP_FILTERS; i++) {
        if (filters->texts[i]) {
            bool is_bare = i == CP_IGNORE_IDLE;
            fprintf(out, "%s%s%s%s", any ? " " : "", cp_filter_name(i), is_bare ? "" : "=",
                    is_bare ? "" : filters->texts[i]);
            any = true;
        }
    }
    if (any) {
        cp_measure_percent(cp_graph_flat_sum(&w->report.graph), w->report.total, percent);
        fprintf(out, ": %s of the total\n", percent + strspn(percent, " "));
    }
}

static void print_head(const window *w, FILE *out)
{
    const cp_process_load *load = w->matter->load;

    print_title(w->matter, w->elapsed_ns, out);
    if (load) {
        print_cpu(load, out);
    }
    print_total(w, out);
    if (load) {
        print_threads(load, out);
    }
    fputc('\n', out);
    if (strcmp(w->view->profile, "wall") == 0) {
        print_states(w, out);
    }
    print_filters(w, out);
    fputc('\n', out);
}

/* ---- the report ---- */

static const char lost_name[] = "pprof_lost_samples";

static bool is_lost(const cp_profile *profile, const cp_sample *sample)
{
    if (sample->location_count == 0) {
        return false;
    }
    const cp_location *leaf = &profile->locations[sample->locations[0]];
    return leaf->line_count > 0 &&
           strcmp(cp_profile_text(profile, profile->functions[leaf->lines[0].function].name),
                  lost_name) == 0;
}

/* Before the filters. The first sample type of a CPU profile counts samples. */
static void count_samples(window *w, const cp_profile *profile)
{
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const cp_sample *sample = &profile->samples[i];

        w->samples += sample->values[0];
        w->lost += is_lost(profile, sample) ? sample->values[0] : 0;
    }
}

static cp_report_options options_of(const cp_live_matter *m, const char *type)
{
    cp_report_options options = *m->report;

    options.by_cum = m->state->by_cum;
    options.sample = type;
    options.is_quiet = true;
    options.filters.texts[CP_FOCUS] = m->focus ? m->state->focus : NULL;
    options.filters.names[CP_FOCUS] = m->focus;
    return options;
}

static FILE *open_text(char **text, size_t *length)
{
    FILE *out = open_memstream(text, length);

    if (!out) {
        cp_complain("out of memory");
        exit(CP_EXIT_BAD_INPUT);
    }
    return out;
}

/* The headings of the columns belong to what does not scroll. */
static void split_heading(cp_live_table *table, char *rows)
{
    char *end = strchr(rows, '\n');
    size_t length = end ? (size_t)(end - rows) + 1 : 0;
    char *head = cp_heap_printf("%s%.*s", table->head, (int)length, rows);

    free(table->head);
    table->head = head;
    table->body = cp_heap_printf("%s", rows + length);
    free(rows);
}

static void print_table(const window *w, cp_live_table *table)
{
    size_t length;
    char *rows;
    FILE *out = open_text(&table->head, &length);

    print_head(w, out);
    fclose(out);
    out = open_text(&rows, &length);
    cp_report_print_rows(&w->report, out);
    fclose(out);
    split_heading(table, rows);
    if (!*table->body) {
        free(table->body);
        table->body = cp_heap_printf("\n%s\n", w->report.total ? "Nothing matches the filters."
                                                               : w->matter->hint);
    }
}

static void print_json(const window *w, cp_live_table *table)
{
    size_t length;
    FILE *out = open_text(&table->json, &length);

    cp_report_json_rows(&w->report, out);
    fclose(out);
}

static int report_on(window *w, cp_profile *profile, bool json, cp_live_table *table,
                     cp_error *error)
{
    char *type = cp_live_view_type(w->view, w->matter->report->sample);
    cp_report_options options = options_of(w->matter, type);

    cp_report_prepare(w->matter->sources, profile);
    count_samples(w, profile);
    int status = cp_report_init(&w->report, profile, &options, error);
    if (status == 0) {
        cp_report_build_graph(&w->report, false);
        (json ? print_json : print_table)(w, table);
        cp_report_release(&w->report);
    }
    free(type);
    return status;
}

static void print_nothing_yet(const cp_live_matter *m, cp_live_table *table)
{
    size_t length;
    FILE *out = open_text(&table->head, &length);

    print_title(m, 0, out);
    fclose(out);
    table->body = cp_heap_printf("\nThe first table is there after the first interval.\n");
}

int cp_live_table_make(const cp_live_matter *m, bool json, cp_live_table *table, cp_error *error)
{
    window w = {.matter = m, .view = &cp_live_views[m->state->view]};
    cp_profile *profile;

    *table = (cp_live_table){NULL, NULL, NULL};
    int status = cp_live_history_window(m->history, w.view->kind, m->state->since_start, &profile,
                                        &w.elapsed_ns, error);
    if (status == 1) {
        print_nothing_yet(m, table);
    }
    if (status != 0) {
        return status;
    }
    status = report_on(&w, profile, json, table, error);
    cp_profile_free(profile);
    return status;
}

void cp_live_table_release(cp_live_table *table)
{
    free(table->head);
    free(table->body);
    free(table->json);
    *table = (cp_live_table){NULL, NULL, NULL};
}
