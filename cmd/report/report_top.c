/* SPDX-License-Identifier: MIT
 *
 * report_top.c: the table of `top`; see report_text.h.
 *
 * Tested by: unit.cmd_report, e2e.cpprof_top.
 */
#include "report/report_text.h"

#include "base/measurement.h"
#include "report/report.h"

static const char *inline_mark(const cp_graph *graph, const cp_node *node)
{
    bool inlined = false, called = false;

    for (uint32_t i = node->first_in; i != CP_NO_EDGE; i = graph->edges[i].next_in) {
        if (graph->edges[i].cut) {
            continue;
        }
        if (graph->edges[i].inlined) {
            inlined = true;
        } else {
            called = true;
        }
    }
    if (!inlined) {
        return "";
    }
    return called ? " (partial-inline)" : " (inline)";
}

static void print_row(const cp_report *report, const cp_node *node, int64_t sum, FILE *out)
{
    const cp_frame *frame = &report->frames.frames[node->frame];

    cp_report_print_costs(report, node, sum, out);
    fputs("  ", out);
    fwrite(frame->label, 1, frame->label_length, out);
    fprintf(out, "%s\n", inline_mark(&report->graph, node));
}

void cp_report_print_rows(const cp_report *report, FILE *out)
{
    const cp_graph *graph = &report->graph;
    uint64_t sum = 0;

    cp_report_print_heading(report, "      flat  flat%   sum%        cum   cum%", out);
    for (uint32_t i = 0; i < graph->count; i++) {
        const cp_node *node = &graph->nodes[graph->order[i]];
        sum += (uint64_t)node->flat;
        print_row(report, node, (int64_t)sum, out);
    }
}
