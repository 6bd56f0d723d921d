/* SPDX-License-Identifier: MIT
 *
 * report_tree.c: `tree` and `peek`; see report_text.h.
 *
 * Owns: the sorted edges of one frame at a time.
 * Tested by: unit.cmd_reports, e2e.cpprof_reports.
 */
#include "report/report_text.h"

#include "base/measurement.h"
#include "base/message.h"
#include "base/regex.h"
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#define SEPARATOR "----------------------------------------------------------+-------------\n"
#define LEGEND    "      flat  flat%   sum%        cum   cum%   calls calls% + context \t \t "

/* Callers or callees of a frame. */
typedef struct edge_list {
    const cp_edge **edges;
    uint32_t count;
} edge_list;

static const cp_frame *frame_at(const cp_report *report, uint32_t frame)
{
    return &report->frames.frames[frame];
}

static int compare_labels(const cp_report *report, uint32_t left, uint32_t right)
{
    return strcmp(frame_at(report, left)->label, frame_at(report, right)->label);
}

/* The heaviest first; equal ones by the names of caller and callee. */
static int compare_edges(const void *left, const void *right, void *report)
{
    const cp_edge *a = *(const cp_edge *const *)left, *b = *(const cp_edge *const *)right;
    int64_t x = cp_measure_abs(a->weight), y = cp_measure_abs(b->weight);

    if (x != y) {
        return x > y ? -1 : 1;
    }
    int order = compare_labels(report, a->src, b->src);
    return order ? order : compare_labels(report, a->dest, b->dest);
}

static void append(edge_list *list, const cp_edge *edge)
{
    if (!edge->cut) {
        list->edges[list->count++] = edge;
    }
}

static void collect(const cp_report *report, const cp_node *node, bool callers, edge_list *list)
{
    const cp_edge *edges = report->graph.edges;
    uint32_t next;

    list->count = 0;
    for (uint32_t i = callers ? node->first_in : node->first_out; i != CP_NO_EDGE; i = next) {
        append(list, &edges[i]);
        next = callers ? edges[i].next_in : edges[i].next_out;
    }
    qsort_r(list->edges, list->count, sizeof(const cp_edge *), compare_edges, (void *)report);
}

static void print_edges(const cp_report *report, const cp_node *node, bool callers, edge_list *list,
                        FILE *out)
{
    char percent[CP_PERCENT_BYTES];

    collect(report, node, callers, list);
    for (uint32_t i = 0; i < list->count; i++) {
        const cp_edge *edge = list->edges[i];
        const cp_frame *other = frame_at(report, callers ? edge->src : edge->dest);

        cp_report_print_value(report, edge->weight, 50, out);
        cp_measure_percent(edge->weight, node->cum, percent);
        fprintf(out, " %s |   ", percent);
        fwrite(other->label, 1, other->label_length, out);
        fputs(edge->inlined ? " (inline)\n" : "\n", out);
    }
}

static void print_node(const cp_report *report, const cp_node *node, int64_t sum, FILE *out)
{
    cp_report_print_costs(report, node, sum, out);
    fputs("                | ", out);
    cp_report_print_heading(report, frame_at(report, node->frame)->label, out);
}

static void print_context(const cp_report *report, const cp_node *node, int64_t sum,
                          edge_list *list, FILE *out)
{
    fputs(SEPARATOR, out);
    print_edges(report, node, true, list, out);
    print_node(report, node, sum, out);
    print_edges(report, node, false, list, out);
}

static bool is_shown(const cp_report *report, const cp_node *node, cp_regex *only)
{
    const cp_frame *frame = frame_at(report, node->frame);

    return !only || cp_regex_match(only, frame->label, frame->label_length);
}

static bool any_is_shown(const cp_report *report, cp_regex *only)
{
    for (uint32_t i = 0; i < report->graph.count; i++) {
        if (is_shown(report, &report->graph.nodes[report->graph.order[i]], only)) {
            return true;
        }
    }
    return !only;
}

int cp_report_print_tree(const cp_report *report, cp_regex *only, FILE *out, cp_error *error)
{
    const cp_graph *graph = &report->graph;
    uint64_t sum = 0;

    if (!any_is_shown(report, only)) {
        return cp_fail(error, "expected a function that the expression matches, found none");
    }
    edge_list list = {cp_heap_alloc(graph->edge_count, sizeof(const cp_edge *)), 0};
    cp_report_print_profile(report, out);
    cp_report_print_summary(report, out);
    fputs(SEPARATOR, out);
    cp_report_print_heading(report, LEGEND, out);
    for (uint32_t i = 0; i < graph->count; i++) {
        const cp_node *node = &graph->nodes[graph->order[i]];

        if (is_shown(report, node, only)) {
            sum += (uint64_t)node->flat;
            print_context(report, node, (int64_t)sum, &list, out);
        }
    }
    if (graph->count) {
        fputs(SEPARATOR, out);
    }
    free(list.edges);
    return 0;
}
