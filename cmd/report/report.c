/* SPDX-License-Identifier: MIT
 *
 * report.c: see report.h.
 *
 * Owns: intermediate graphs, until a report is ready.
 */
#include "report/report.h"

#include "base/measurement.h"
#include "base/message.h"
#include "base/regex.h"
#include "base/pool.h"
#include "base/suggestion.h"
#include "profile/idle_filter.h"
#include "profile/profile_merge.h"
#include "profile/profile_model.h"
#include "report/report_load.h"

#include <stdlib.h>
#include <string.h>

/* ---- totals and filters ---- */

const char *cp_filter_name(int filter)
{
    static const char *const names[CP_FILTERS] = {
        [CP_FOCUS] = "focus",
        [CP_IGNORE] = "ignore",
        [CP_HIDE] = "hide",
        [CP_SHOW] = "show",
        [CP_SHOW_FROM] = "show_from",
        [CP_TAG_FOCUS] = "tagfocus",
        [CP_TAG_IGNORE] = "tagignore",
        [CP_IGNORE_IDLE] = "ignore_idle",
    };

    return names[filter];
}

static int list_types(const cp_profile *profile, const char *wanted, cp_error *error)
{
    char types[512] = "", near[CP_SUGGESTION_BYTES];
    size_t length = 0;
    cp_suggestion suggestion;

    cp_suggestion_init(&suggestion, wanted, strlen(wanted));
    for (uint32_t i = 0; i < profile->sample_type_count && length < sizeof types; i++) {
        length += (size_t)snprintf(types + length, sizeof types - length, "%s%s", i ? ", " : "",
                                   cp_profile_text(profile, profile->sample_types[i].type));
        cp_suggestion_offer(&suggestion, cp_profile_text(profile, profile->sample_types[i].type));
    }
    return cp_fail(error, "expected a sample type of this profile (%s), found %.200s%s", types,
                   wanted, cp_suggestion_text(&suggestion, "", near));
}

static void name_type(cp_report *report)
{
    const cp_value_type *type = &report->profile->sample_types[report->value_index];

    report->sample_type = cp_profile_text(report->profile, type->type);
    report->sample_unit = cp_profile_text(report->profile, type->unit);
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
    report->value_index = (uint32_t)index;
    name_type(report);
    report->output_unit = report->options->unit ? report->options->unit : CP_UNIT_MINIMUM;
    return 0;
}

/* Whether the sample is one of the profiles that were subtracted. */
static bool is_of_base(const cp_profile *profile, const cp_sample *sample)
{
    for (uint32_t i = 0; i < sample->label_count; i++) {
        const cp_label *label = &sample->labels[i];
        if (!label->numeric && strcmp(cp_profile_text(profile, label->key), CP_BASE_LABEL) == 0 &&
            strcmp(cp_profile_text(profile, label->text), "true") == 0) {
            return true;
        }
    }
    return false;
}

/* If samples have the label of a base, only these count. */
static int64_t total_of(const cp_profile *profile, uint32_t value_index)
{
    uint64_t total = 0, base_total = 0;

    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const cp_sample *sample = &profile->samples[i];
        uint64_t value = (uint64_t)cp_measure_abs(sample->values[value_index]);

        total += value;
        if (sample->label_count && is_of_base(profile, sample)) {
            base_total += value;
        }
    }
    return (int64_t)base_total > 0 ? (int64_t)base_total : (int64_t)total;
}

static void warn(const cp_report *report, int filter, bool matched)
{
    static const char *const options[CP_FILTERS] = {
        [CP_FOCUS] = "--focus",
        [CP_IGNORE] = "--ignore",
        [CP_HIDE] = "--hide",
        [CP_SHOW] = "--show",
        [CP_SHOW_FROM] = "--show-from",
        [CP_TAG_FOCUS] = "--tagfocus",
        [CP_TAG_IGNORE] = "--tagignore",
    };
    const char *text = report->options->filters.texts[filter];

    if (text && !matched && !report->options->is_quiet) {
        cp_complain("warning: %s %s matches no %s", options[filter], text,
                    filter < CP_NAME_FILTERS ? "function, file or program" : "label");
    }
}

static void add_comment(cp_profile *profile, const char *text)
{
    cp_string *comments = CP_POOL_ARRAY(&profile->pool, cp_string, profile->comment_count + 1);

    for (uint32_t i = 0; i < profile->comment_count; i++) {
        comments[i] = profile->comments[i];
    }
    comments[profile->comment_count++] = cp_strings_put(&profile->strings, text);
    profile->comments = comments;
}

/* Leaves out what threads wait for work, and says how much. */
static void ignore_idle(cp_report *report)
{
    cp_idle idle = cp_profile_filter_idle(report->profile, report->value_index);

    if (!idle.has_states) {
        if (!report->options->is_quiet) {
            cp_complain(
                "warning: --ignore-idle is for wall-clock profiles: no sample has the label "
                "state");
        }
        return;
    }
    char percent[CP_PERCENT_BYTES];
    cp_measure_percent(idle.value, report->total, percent);
    char *value = cp_report_value(report, idle.value),
         *total = cp_report_value(report, report->total);
    char *text = cp_heap_printf("--ignore-idle leaves out %s, %s of %s", value,
                                percent + strspn(percent, " "), total);
    add_comment(report->profile, text);
    if (!report->options->is_quiet) {
        cp_complain("%s", text);
    }
    free(value);
    free(total);
    free(text);
}

static void apply_filters(cp_report *report)
{
    const cp_filters *filters = &report->options->filters;
    bool matched[CP_NAME_FILTERS];

    if (filters->texts[CP_IGNORE_IDLE]) {
        ignore_idle(report);
    }
    cp_profile_filter_names(report->profile, filters->names,
                            report->options->style == CP_STYLE_GO_1_26, matched);
    for (int i = 0; i < CP_NAME_FILTERS; i++) {
        warn(report, i, matched[i]);
    }
    cp_label_matches labels = cp_profile_filter_labels(report->profile, &report->label_units,
                                                       filters->tag_focus, filters->tag_ignore);
    warn(report, CP_TAG_FOCUS, labels.focus);
    warn(report, CP_TAG_IGNORE, labels.ignore);
}

/* ---- trimming ---- */

int64_t cp_report_fraction(int64_t value, double fraction)
{
    return cp_measure_abs(cp_measure_truncate((double)value * fraction));
}

/* Keeps only the first `count` frames of the graph's order, and marks these in `kept`. */
static void keep_first(cp_report *report, uint32_t count, bool **kept)
{
    free(*kept);
    *kept = cp_graph_keep(&report->graph, count);
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
    int64_t least = options->untrimmed ? 0 : cp_report_fraction(sum, CP_NODE_FRACTION);

    if (least > 0) {
        uint32_t before = graph->count, large = partition(graph, least);

        report->dropped_nodes = before - large;
        if (large < before) {
            keep_first(report, large, kept);
        }
    }
    report->significant_nodes = graph->count;
    cp_graph_sort(graph, options->by_cum);
    if (options->node_count && options->node_count < graph->count) {
        keep_first(report, options->node_count, kept);
    }
}

/* Builds the graph again with edges, over the frames of `kept`. */
static void add_edges(cp_report *report, int64_t sum, const bool *kept, const bool *around)
{
    cp_graph *graph = &report->graph;

    cp_graph_release(graph);
    cp_graph_init_with_edges(graph, &report->frames, report->value_index, kept, around);
    if (!report->options->untrimmed) {
        cp_graph_cut_edges(graph, cp_report_fraction(sum, CP_EDGE_FRACTION));
    }
}

/* Builds the edges only for the last graph, and unless the caller wants them only if functions are
 * inlined: the edges show which. */
static void build_graph(cp_report *report, bool with_edges, const bool *around)
{
    cp_graph *graph = &report->graph;
    bool *kept = NULL;

    cp_graph_init(graph, &report->frames, report->value_index);
    int64_t sum = cp_graph_flat_sum(graph);
    trim_graph(report, sum, &kept);
    if (with_edges || cp_frames_have_inlined(&report->frames)) {
        add_edges(report, sum, kept, around);
    }
    cp_graph_sort(graph, report->options->by_cum);
    free(kept);
}

/* Chooses one unit for all rows: the one in which the smallest value shown is still readable. */
void cp_report_choose_unit(cp_report *report)
{
    const cp_graph *graph = &report->graph;
    int64_t least = 0;

    if (graph->count == 0 || report->options->unit) {
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

void cp_report_build_graph(cp_report *report, bool with_edges)
{
    build_graph(report, with_edges, NULL);
    cp_report_choose_unit(report);
}

void cp_report_build_graph_around(cp_report *report, cp_regex *expression)
{
    const cp_frames *frames = &report->frames;
    bool *around = cp_heap_alloc(frames->count, sizeof *around);

    for (uint32_t i = 0; i < frames->count; i++) {
        const cp_frame *frame = &frames->frames[i];
        around[i] = cp_regex_match(expression, frame->label, frame->label_length);
    }
    build_graph(report, true, around);
    cp_report_choose_unit(report);
    free(around);
}

/* Go 1.19 knows no number of 0 without a unit, which rows of 0 objects of a heap profile as text
 * have. */
static void forget_zeros(cp_profile *profile)
{
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        cp_sample *sample = &profile->samples[i];
        uint32_t kept = 0;

        for (uint32_t j = 0; j < sample->label_count; j++) {
            const cp_label *label = &sample->labels[j];
            if (!label->numeric || label->number || label->text) {
                sample->labels[kept++] = *label;
            }
        }
        sample->label_count = kept;
    }
}

/* Go 1.19 knows no columns. */
static void forget_columns(cp_profile *profile)
{
    for (uint32_t i = 0; i < profile->location_count; i++) {
        for (uint32_t j = 0; j < profile->locations[i].line_count; j++) {
            profile->locations[i].lines[j].column = 0;
        }
    }
}

/* The Go tool shows the paths of files as it looks for them, but not in `raw`. */
static void trim_files(cp_profile *profile, const cp_source_search *search)
{
    for (uint32_t i = 0; i < profile->function_count; i++) {
        cp_function *function = &profile->functions[i];
        const char *file = cp_profile_text(profile, function->filename);
        const char *shown = cp_source_trim(file, search);
        if (shown != file) {
            char *copy = cp_heap_copy(shown, strlen(shown));
            function->filename = cp_strings_put(&profile->strings, copy);
            free(copy);
        }
    }
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
    if (options->style == CP_STYLE_GO_1_19) {
        forget_zeros(profile);
    }
    cp_label_units_init(&report->label_units, profile);
    report->total = total_of(profile, report->value_index);
    apply_filters(report);
    if (!options->any_bytes) {
        cp_strings_make_printable(&profile->strings);
        name_type(report);
    }
    if (options->granularity != CP_ADDRESSES) {
        trim_files(profile, &options->sources);
    }
    if (options->style == CP_STYLE_GO_1_19 && options->granularity == CP_ADDRESSES) {
        forget_columns(profile);
    }
    cp_frames_init(&report->frames, profile, options->granularity);
    return 0;
}

void cp_report_release(cp_report *report)
{
    cp_graph_release(&report->graph);
    cp_frames_release(&report->frames);
    cp_label_units_release(&report->label_units);
}

char *cp_report_value(const cp_report *report, int64_t value)
{
    return cp_measure_label(value, report->sample_unit, report->output_unit);
}

cp_profile *cp_report_rest(const cp_report *report)
{
    cp_profile *profile = report->profile, *rest;
    cp_error ignored;

    if (report->options->sample) {
        profile->default_sample_type = profile->sample_types[report->value_index].type;
    }
    cp_profile_merge(&profile, 1, &rest, &ignored); /* cannot fail: there is only one */
    return rest;
}
