/* SPDX-License-Identifier: MIT
 *
 * dot_graph.c: see dot_graph.h. The steps and their order are those of pprof
 * (Report.newTrimmedGraph).
 *
 * Owns: what is kept, while the graph is built.
 * Tested by: e2e.cpprof_dot.
 */
#include "convert/dot_graph.h"

#include "base/measurement.h"
#include "profile/profile_model.h"
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct chooser {
    cp_report *report;
    cp_graph *graph;
    cp_dot_tags *tags;
    bool *kept; /* per frame; NULL: all */
    int64_t least_edge;
} chooser;

static void rebuild(chooser *c, bool with_edges)
{
    cp_graph_release(c->graph);
    if (with_edges || c->kept) {
        cp_graph_init_with_edges(c->graph, &c->report->frames, c->report->value_index, c->kept,
                                 NULL);
    } else {
        cp_graph_init(c->graph, &c->report->frames, c->report->value_index);
    }
}

/* Keeps the first nodes of the order, and only these. */
static void keep_first(chooser *c, uint32_t count)
{
    free(c->kept);
    c->kept = cp_heap_alloc(c->report->frames.count, sizeof *c->kept);
    for (uint32_t i = 0; i < count; i++) {
        c->kept[c->graph->order[i]] = true;
    }
}

/* ---- scores ---- */

typedef struct edge_walk {
    const cp_graph *graph;
    uint32_t at;
    bool incoming;
} edge_walk;

static edge_walk walk_edges(const cp_graph *graph, const cp_node *node, bool incoming)
{
    return (edge_walk){graph, incoming ? node->first_in : node->first_out, incoming};
}

/* The next edge that was not cut, or NULL. */
static cp_edge *next_edge(edge_walk *walk)
{
    while (walk->at != CP_NO_EDGE) {
        cp_edge *edge = &walk->graph->edges[walk->at];

        walk->at = walk->incoming ? edge->next_in : edge->next_out;
        if (!edge->cut) {
            return edge;
        }
    }
    return NULL;
}

static double entropy(int64_t part, int64_t total)
{
    double fraction = (double)cp_measure_abs(part) / (double)total;

    return -fraction * log2(fraction);
}

/* How evenly the cost is spread over the edges; `self` is one more of them. 1 if there are none. */
static double score_edges(const cp_graph *graph, const cp_node *node, bool incoming, int64_t self)
{
    edge_walk walk = walk_edges(graph, node, incoming);
    const cp_edge *edge = next_edge(&walk);
    int64_t total = self;
    double score = 0;

    if (!edge) {
        return 1;
    }
    for (; edge; edge = next_edge(&walk)) {
        if (edge->weight > 0 && __builtin_add_overflow(total, edge->weight, &total)) {
            total = INT64_MAX; /* a broken profile may have more */
        }
    }
    if (total == 0) {
        return 0;
    }
    walk = walk_edges(graph, node, incoming);
    while ((edge = next_edge(&walk)) != NULL) {
        score += entropy(edge->weight, total);
    }
    return self > 0 ? score + entropy(self, total) : score;
}

static void sort_by_interest(cp_graph *graph)
{
    int64_t *scores = cp_heap_alloc(graph->frames->count, sizeof *scores);

    for (uint32_t i = 0; i < graph->count; i++) {
        const cp_node *node = &graph->nodes[graph->order[i]];
        double score =
            score_edges(graph, node, true, 0) + score_edges(graph, node, false, node->flat);
        scores[graph->order[i]] =
            (int64_t)((uint64_t)cp_measure_truncate(score * (double)node->cum) +
                      (uint64_t)node->flat);
    }
    cp_graph_sort_by(graph, scores);
    free(scores);
}

/* ---- trimming ---- */

/* Cuts the small edges of the nodes in the graph. Returns how many. */
static uint32_t cut_edges(chooser *c)
{
    uint32_t cut = 0;

    for (uint32_t i = 0; i < c->graph->count; i++) {
        edge_walk walk = walk_edges(c->graph, &c->graph->nodes[c->graph->order[i]], true);
        cp_edge *edge;

        while ((edge = next_edge(&walk)) != NULL) {
            edge->cut = cp_measure_abs(edge->weight) < c->least_edge;
            cut += edge->cut;
        }
    }
    return cut;
}

/* How many nodes fit into the limit, if their tags count as nodes. */
static uint32_t fitting(const chooser *c, uint32_t limit)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < c->graph->count; i++) {
        uint32_t tags, flat = 0;
        const cp_dot_tag *tag = cp_dot_tags_of(c->tags, c->graph->order[i], &tags);

        for (uint32_t j = 0; j < tags; j++) {
            flat += tag[j].flat != 0;
        }
        count += (flat < CP_DOT_TAGS ? flat : CP_DOT_TAGS) + 1;
        if (count >= limit) {
            return i + 1;
        }
    }
    return limit < c->graph->count ? limit : c->graph->count;
}

static void drop_small_nodes(chooser *c, int64_t least)
{
    cp_graph *graph = c->graph;
    uint32_t large = 0, before = graph->count;

    if (least > 0) {
        for (uint32_t i = 0; i < graph->count; i++) {
            if (cp_measure_abs(graph->nodes[graph->order[i]].cum) >= least) {
                graph->order[large++] = graph->order[i];
            }
        }
        if (large < before) {
            keep_first(c, large);
            c->report->dropped_nodes = before - large;
        }
    }
    rebuild(c, true);
    c->report->significant_nodes = graph->count;
}

static void limit_nodes(chooser *c)
{
    uint32_t limit = c->report->options->node_count;

    if (!limit) {
        return;
    }
    cut_edges(c);
    uint32_t count = fitting(c, limit);
    if (count < c->graph->count) {
        keep_first(c, count);
        rebuild(c, true);
        sort_by_interest(c->graph);
        cp_dot_tags_count(c->tags, c->kept);
    }
}

/* ---- residual edges ---- */

/* Whether the edge's end can be reached from its beginning without it. */
static bool is_redundant(const cp_graph *graph, const cp_edge *edge, uint32_t *queue,
                         uint32_t *seen, uint32_t stamp)
{
    uint32_t begin = 0, end = 0;

    queue[end++] = edge->dest;
    seen[edge->dest] = stamp;
    while (begin < end) {
        edge_walk walk = walk_edges(graph, &graph->nodes[queue[begin++]], true);
        const cp_edge *in;

        while ((in = next_edge(&walk)) != NULL) {
            if (in == edge || seen[in->src] == stamp) {
                continue;
            }
            if (in->src == edge->src) {
                return true;
            }
            seen[in->src] = stamp;
            queue[end++] = in->src;
        }
    }
    return false;
}

int cp_dot_compare_edges(const void *left, const void *right, void *graph)
{
    const cp_edge *a = *(cp_edge *const *)left, *b = *(cp_edge *const *)right;
    const cp_frame *frames = ((const cp_graph *)graph)->frames->frames;
    int64_t x = cp_measure_abs(a->weight), y = cp_measure_abs(b->weight);

    if (x != y) {
        return x > y ? -1 : 1;
    }
    int order = strcmp(frames[a->src].label, frames[b->src].label);
    return order ? order : strcmp(frames[a->dest].label, frames[b->dest].label);
}

static void remove_redundant(cp_graph *graph)
{
    uint32_t *queue = cp_heap_alloc((size_t)graph->frames->count + 1, sizeof *queue);
    uint32_t *seen = cp_heap_alloc(graph->frames->count, sizeof *seen), stamp = 0;
    cp_edge **in = cp_heap_alloc(graph->edge_count, sizeof(cp_edge *));

    for (uint32_t i = graph->count; i-- > 0;) {
        edge_walk walk = walk_edges(graph, &graph->nodes[graph->order[i]], true);
        uint32_t count = 0;
        cp_edge *edge;

        while ((edge = next_edge(&walk)) != NULL) {
            in[count++] = edge;
        }
        qsort_r(in, count, sizeof(cp_edge *), cp_dot_compare_edges, graph);
        while (count > 0 && in[count - 1]->residual) { /* none that is heavier than a plain one */
            count--;
            in[count]->cut = is_redundant(graph, in[count], queue, seen, ++stamp);
        }
    }
    free(in);
    free(seen);
    free(queue);
}

void cp_dot_choose(cp_report *report, cp_dot_tags *tags)
{
    chooser c = {.report = report, .graph = &report->graph, .tags = tags};

    rebuild(&c, false);
    int64_t sum = cp_graph_flat_sum(c.graph);
    int64_t least = cp_report_fraction(sum, CP_NODE_FRACTION);
    c.least_edge = cp_report_fraction(sum, CP_EDGE_FRACTION);
    drop_small_nodes(&c, least);
    sort_by_interest(c.graph);
    cp_dot_tags_init(tags, report, least);
    cp_dot_tags_count(tags, c.kept);
    limit_nodes(&c);
    report->dropped_edges = cut_edges(&c);
    remove_redundant(c.graph);
    free(c.kept);
    cp_report_choose_unit(report);
}
