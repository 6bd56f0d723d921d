/* SPDX-License-Identifier: MIT
 *
 * report_json.c: see report_json.h.
 *
 * Tested by: e2e.cpprof_reports.
 */
#include "report/report_json.h"

#include "base/json.h"
#include "base/message.h"
#include "base/regex.h"
#include "profile/profile_model.h"
#include "report/report.h"
#include "report/sample_labels.h"
#include "report/tag_table.h"

/* ---- the profile ---- */

static void put_string(cp_json *json, const cp_report *report, const char *key, cp_string string)
{
    const cp_strings *strings = &report->profile->strings;

    cp_json_bytes(json, key, cp_strings_get(strings, string), cp_strings_length(strings, string));
}

static void put_filters(cp_json *json, const cp_filters *filters)
{
    cp_json_open(json, "filters", '{');
    for (int i = 0; i < CP_FILTERS; i++) {
        if (filters->texts[i]) {
            cp_json_text(json, cp_filter_name(i), filters->texts[i]);
        }
    }
    cp_json_close(json, '}');
}

cp_json cp_report_json_begin(const cp_report *report, FILE *out)
{
    const cp_profile *profile = report->profile;
    cp_json json = {out, false};

    cp_json_open(&json, NULL, '{');
    cp_json_open(&json, "profile", '{');
    if (profile->mapping_count) {
        put_string(&json, report, "file", profile->mappings[0].file);
        put_string(&json, report, "build_id", profile->mappings[0].build_id);
    }
    cp_json_text(&json, "type", report->sample_type);
    cp_json_text(&json, "unit", report->sample_unit);
    cp_json_number(&json, "total", report->total);
    cp_json_number(&json, "time_nanos", profile->time_nanos);
    cp_json_number(&json, "duration_nanos", profile->duration_nanos);
    cp_json_open(&json, "comments", '[');
    for (uint32_t i = 0; i < profile->comment_count; i++) {
        put_string(&json, report, NULL, profile->comments[i]);
    }
    cp_json_close(&json, ']');
    put_filters(&json, &report->options->filters);
    cp_json_close(&json, '}');
    return json;
}

void cp_report_json_end(cp_json *json)
{
    cp_json_close(json, '}');
    fputc('\n', json->out);
}

/* ---- top and tree ---- */

static void put_name(cp_json *json, const cp_report *report, uint32_t frame)
{
    const cp_frame *of = &report->frames.frames[frame];

    cp_json_bytes(json, "name", of->label, of->label_length);
}

static void put_node(cp_json *json, const cp_report *report, const cp_node *node)
{
    put_name(json, report, node->frame);
    cp_json_number(json, "flat", node->flat);
    cp_json_number(json, "cum", node->cum);
}

/* Opens the list of nodes, after the numbers of those that are not in it. */
static void open_nodes(cp_json *json, const cp_report *report, const char *key)
{
    cp_json_number(json, "shown", cp_graph_flat_sum(&report->graph));
    cp_json_unsigned(json, "dropped_nodes", report->dropped_nodes);
    cp_json_unsigned(json, "significant_nodes", report->significant_nodes);
    cp_json_open(json, key, '[');
}

static bool is_inlined(const cp_graph *graph, const cp_node *node)
{
    for (uint32_t i = node->first_in; i != CP_NO_EDGE; i = graph->edges[i].next_in) {
        if (!graph->edges[i].cut && graph->edges[i].inlined) {
            return true;
        }
    }
    return false;
}

void cp_report_json_rows(const cp_report *report, FILE *out)
{
    const cp_graph *graph = &report->graph;
    cp_json json = cp_report_json_begin(report, out);

    open_nodes(&json, report, "rows");
    for (uint32_t i = 0; i < graph->count; i++) {
        const cp_node *node = &graph->nodes[graph->order[i]];

        cp_json_open(&json, NULL, '{');
        put_node(&json, report, node);
        cp_json_flag(&json, "inline", is_inlined(graph, node));
        cp_json_close(&json, '}');
    }
    cp_json_close(&json, ']');
    cp_report_json_end(&json);
}

static void put_edge(cp_json *json, const cp_report *report, const cp_edge *edge, uint32_t other)
{
    if (edge->cut) {
        return;
    }
    cp_json_open(json, NULL, '{');
    put_name(json, report, other);
    cp_json_number(json, "value", edge->weight);
    cp_json_flag(json, "inline", edge->inlined);
    cp_json_close(json, '}');
}

static void put_context(cp_json *json, const cp_report *report, const cp_node *node)
{
    const cp_edge *edges = report->graph.edges;

    cp_json_open(json, NULL, '{');
    put_node(json, report, node);
    cp_json_open(json, "callers", '[');
    for (uint32_t i = node->first_in; i != CP_NO_EDGE; i = edges[i].next_in) {
        put_edge(json, report, &edges[i], edges[i].src);
    }
    cp_json_close(json, ']');
    cp_json_open(json, "callees", '[');
    for (uint32_t i = node->first_out; i != CP_NO_EDGE; i = edges[i].next_out) {
        put_edge(json, report, &edges[i], edges[i].dest);
    }
    cp_json_close(json, ']');
    cp_json_close(json, '}');
}

static bool is_shown(const cp_report *report, const cp_node *node, cp_regex *only)
{
    const cp_frame *frame = &report->frames.frames[node->frame];

    return !only || cp_regex_match(only, frame->label, frame->label_length);
}

int cp_report_json_tree(const cp_report *report, cp_regex *only, FILE *out, cp_error *error)
{
    const cp_graph *graph = &report->graph;
    uint32_t first = 0;

    while (first < graph->count && !is_shown(report, &graph->nodes[graph->order[first]], only)) {
        first++;
    }
    if (only && first == graph->count) {
        return cp_fail(error, "expected a function that the expression matches, found none");
    }
    cp_json json = cp_report_json_begin(report, out);
    open_nodes(&json, report, "nodes");
    for (uint32_t i = first; i < graph->count; i++) {
        const cp_node *node = &graph->nodes[graph->order[i]];
        if (is_shown(report, node, only)) {
            put_context(&json, report, node);
        }
    }
    cp_json_close(&json, ']');
    cp_report_json_end(&json);
    return 0;
}

/* ---- samples ---- */

static void put_labels(cp_json *json, const cp_report *report, const cp_sample *sample)
{
    cp_label_group group = {0};

    cp_json_open(json, "labels", '[');
    while (cp_label_group_next(sample, &group)) {
        for (uint32_t i = group.first; i < group.end; i++) {
            const cp_label *label = &sample->labels[i];

            cp_json_open(json, NULL, '{');
            put_string(json, report, "key", label->key);
            if (label->numeric) {
                cp_json_number(json, "number", label->number);
                cp_json_text(json, "unit", cp_label_unit(&report->label_units, label->key));
            } else {
                put_string(json, report, "text", label->text);
            }
            cp_json_close(json, '}');
        }
    }
    cp_json_close(json, ']');
}

static void put_stack(cp_json *json, const cp_report *report, const cp_sample *sample)
{
    const cp_frames *frames = &report->frames;

    cp_json_open(json, "stack", '[');
    for (uint32_t i = 0; i < sample->location_count; i++) {
        uint32_t end_line = frames->first_of[sample->locations[i] + 1];

        for (uint32_t line = frames->first_of[sample->locations[i]]; line < end_line; line++) {
            cp_json_open(json, NULL, '{');
            put_name(json, report, frames->of_line[line]);
            cp_json_flag(json, "inline", line < end_line - 1);
            cp_json_close(json, '}');
        }
    }
    cp_json_close(json, ']');
}

void cp_report_json_traces(const cp_report *report, FILE *out)
{
    cp_json json = cp_report_json_begin(report, out);

    cp_json_open(&json, "samples", '[');
    for (uint32_t i = 0; i < report->profile->sample_count; i++) {
        const cp_sample *sample = &report->profile->samples[i];

        cp_json_open(&json, NULL, '{');
        cp_json_number(&json, "value", cp_report_sample_value(report, i));
        put_labels(&json, report, sample);
        put_stack(&json, report, sample);
        cp_json_close(&json, '}');
    }
    cp_json_close(&json, ']');
    cp_report_json_end(&json);
}

/* ---- tags ---- */

static void put_key(cp_json *json, const cp_tags *tags, uint32_t first, uint32_t end_row)
{
    cp_json_open(json, NULL, '{');
    cp_json_text(json, "key", tags->rows[first].key);
    cp_json_number(json, "total", cp_tags_sum(tags, first, end_row));
    cp_json_open(json, "values", '[');
    for (uint32_t i = first; i < end_row; i++) {
        cp_json_open(json, NULL, '{');
        cp_json_text(json, "value", tags->rows[i].value);
        cp_json_number(json, "sum", tags->rows[i].sum);
        cp_json_close(json, '}');
    }
    cp_json_close(json, ']');
    cp_json_close(json, '}');
}

void cp_report_json_tags(const cp_report *report, FILE *out)
{
    cp_json json = cp_report_json_begin(report, out);
    cp_tags tags;

    cp_tags_init(&tags, report);
    cp_json_open(&json, "tags", '[');
    for (uint32_t first = 0; first < tags.count;) {
        uint32_t end_row = cp_tags_end(&tags, first);
        put_key(&json, &tags, first, end_row);
        first = end_row;
    }
    cp_json_close(&json, ']');
    cp_tags_release(&tags);
    cp_report_json_end(&json);
}

/* ---- raw ---- */

static void put_types(cp_json *json, const cp_report *report)
{
    cp_json_open(json, "sample_types", '[');
    for (uint32_t i = 0; i < report->profile->sample_type_count; i++) {
        cp_json_open(json, NULL, '{');
        put_string(json, report, "type", report->profile->sample_types[i].type);
        put_string(json, report, "unit", report->profile->sample_types[i].unit);
        cp_json_close(json, '}');
    }
    cp_json_close(json, ']');
}

static void put_sample(cp_json *json, const cp_report *report, const cp_sample *sample)
{
    const cp_profile *profile = report->profile;

    cp_json_open(json, NULL, '{');
    cp_json_open(json, "values", '[');
    for (uint32_t i = 0; i < profile->sample_type_count; i++) {
        cp_json_number(json, NULL, sample->values[i]);
    }
    cp_json_close(json, ']');
    cp_json_open(json, "locations", '[');
    for (uint32_t i = 0; i < sample->location_count; i++) {
        cp_json_unsigned(json, NULL, profile->locations[sample->locations[i]].id);
    }
    cp_json_close(json, ']');
    put_labels(json, report, sample);
    cp_json_close(json, '}');
}

static void put_line(cp_json *json, const cp_report *report, const cp_line *line)
{
    const cp_function *function = &report->profile->functions[line->function];

    cp_json_open(json, NULL, '{');
    put_string(json, report, "function", function->name);
    put_string(json, report, "symbol", function->system_name);
    put_string(json, report, "file", function->filename);
    cp_json_number(json, "line", line->line);
    cp_json_number(json, "start_line", function->start_line);
    cp_json_close(json, '}');
}

static void put_location(cp_json *json, const cp_report *report, const cp_location *location)
{
    cp_json_open(json, NULL, '{');
    cp_json_unsigned(json, "id", location->id);
    cp_json_unsigned(json, "address", location->address);
    if (location->mapping != CP_NO_MAPPING) {
        cp_json_unsigned(json, "mapping", report->profile->mappings[location->mapping].id);
    }
    cp_json_open(json, "lines", '[');
    for (uint32_t i = 0; i < location->line_count; i++) {
        put_line(json, report, &location->lines[i]);
    }
    cp_json_close(json, ']');
    cp_json_close(json, '}');
}

static void put_mapping(cp_json *json, const cp_report *report, const cp_mapping *mapping)
{
    cp_json_open(json, NULL, '{');
    cp_json_unsigned(json, "id", mapping->id);
    cp_json_unsigned(json, "start", mapping->start);
    cp_json_unsigned(json, "limit", mapping->limit);
    cp_json_unsigned(json, "offset", mapping->offset);
    put_string(json, report, "file", mapping->file);
    put_string(json, report, "build_id", mapping->build_id);
    cp_json_close(json, '}');
}

void cp_report_json_raw(const cp_report *report, FILE *out)
{
    const cp_profile *profile = report->profile;
    cp_json json = cp_report_json_begin(report, out);

    put_types(&json, report);
    cp_json_open(&json, "samples", '[');
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        put_sample(&json, report, &profile->samples[i]);
    }
    cp_json_close(&json, ']');
    cp_json_open(&json, "locations", '[');
    for (uint32_t i = 0; i < profile->location_count; i++) {
        put_location(&json, report, &profile->locations[i]);
    }
    cp_json_close(&json, ']');
    cp_json_open(&json, "mappings", '[');
    for (uint32_t i = 0; i < profile->mapping_count; i++) {
        put_mapping(&json, report, &profile->mappings[i]);
    }
    cp_json_close(&json, ']');
    cp_report_json_end(&json);
}
