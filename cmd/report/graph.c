/* SPDX-License-Identifier: MIT
 *
 * graph.c: see graph.h.
 *
 * Owns: the arrays of the graph, and an edge table while it is built.
 * Tested by: unit.cmd_report, e2e.cpprof_top.
 */
#include "report/graph.h"

#include "base/measurement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_FRAME UINT32_MAX

/* ---- edges ---- */

/* An open hash table of the edges. The key is in the slot: a profile has many edges, and a look at
 * each would miss the cache once more. */
typedef struct edge_slot {
    uint64_t key; /* src << 32 | dest, + 1; 0 = empty */
    uint32_t edge;
} edge_slot;

typedef struct graph_builder {
    cp_graph *graph;
    const bool *kept;
    bool with_edges;
    uint32_t edge_capacity;
    edge_slot *slots;
    uint64_t mask; /* the number of slots, - 1 */
} graph_builder;

#define FIRST_SLOTS 2048

static edge_slot *find_slot(const graph_builder *builder, uint64_t key)
{
    uint64_t at = key * UINT64_C(0x9e3779b97f4a7c15) >> 20;

    while (builder->slots[at & builder->mask].key &&
           builder->slots[at & builder->mask].key != key) {
        at++;
    }
    return &builder->slots[at & builder->mask];
}

/* Doubles the slots when half of them are used. */
static void grow_slots(graph_builder *builder)
{
    edge_slot *old = builder->slots;
    uint64_t count = builder->mask + 1;

    builder->slots = cp_heap_alloc(2 * count, sizeof *builder->slots);
    builder->mask = 2 * count - 1;
    for (uint64_t i = 0; i < count; i++) {
        if (old[i].key) {
            *find_slot(builder, old[i].key) = old[i];
        }
    }
    free(old);
}

static uint32_t append_edge(graph_builder *builder, uint32_t src, uint32_t dest)
{
    cp_graph *graph = builder->graph;

    if (graph->edge_count == builder->edge_capacity) {
        builder->edge_capacity *= 2;
        graph->edges = cp_heap_resize(graph->edges, builder->edge_capacity, sizeof *graph->edges);
    }
    uint32_t index = graph->edge_count++;
    graph->edges[index] = (cp_edge){.src = src,
                                    .dest = dest,
                                    .inlined = true,
                                    .next_in = graph->nodes[dest].first_in,
                                    .next_out = graph->nodes[src].first_out};
    graph->nodes[dest].first_in = index;
    graph->nodes[src].first_out = index;
    return index;
}

static uint32_t find_or_add_edge(graph_builder *builder, uint32_t src, uint32_t dest)
{
    uint64_t key = ((uint64_t)src << 32 | dest) + 1;
    edge_slot *slot = find_slot(builder, key);

    if (slot->key) {
        return slot->edge;
    }
    *slot = (edge_slot){key, append_edge(builder, src, dest)};
    uint32_t edge = slot->edge;
    if (2 * (uint64_t)builder->graph->edge_count > builder->mask) {
        grow_slots(builder);
    }
    return edge;
}

/* ---- graph ---- */

static void add_wrapping(int64_t *sum, int64_t value)
{
    *sum = (int64_t)((uint64_t)*sum + (uint64_t)value);
}

/* An edge counts once in a sample, even if the stack recurses over it. The occurrence nearest to
 * the root decides whether the edge is inlined. */
static void count_edge(graph_builder *builder, uint32_t src, uint32_t dest, int64_t value,
                       bool inlined, uint32_t stamp)
{
    if (!builder->with_edges || src == dest) {
        return;
    }
    uint32_t index = find_or_add_edge(builder, src, dest); /* may move the edges */
    cp_edge *edge = &builder->graph->edges[index];
    if (edge->seen == stamp) {
        return;
    }
    edge->seen = stamp;
    add_wrapping(&edge->weight, value);
    edge->inlined = edge->inlined && inlined;
}

/* Goes from the root to the leaf. If the leaf was cut out, no frame gets the flat value. */
static void add_sample(graph_builder *builder, const cp_sample *sample, int64_t value,
                       uint32_t stamp)
{
    const cp_frames *frames = builder->graph->frames;
    cp_node *nodes = builder->graph->nodes;
    uint32_t parent = NO_FRAME;
    bool gap = false;

    for (uint32_t i = sample->location_count; i-- > 0;) {
        uint32_t first = frames->first_of[sample->locations[i]];
        uint32_t end = frames->first_of[sample->locations[i] + 1];

        for (uint32_t line = end; line-- > first;) {
            uint32_t frame = frames->of_line[line];

            gap = builder->kept && !builder->kept[frame];
            if (gap) {
                continue;
            }
            if (nodes[frame].seen != stamp) {
                nodes[frame].seen = stamp;
                add_wrapping(&nodes[frame].cum, value);
            }
            if (parent != NO_FRAME) {
                count_edge(builder, parent, frame, value, line != end - 1, stamp);
            }
            parent = frame;
        }
    }
    if (parent != NO_FRAME && !gap) {
        add_wrapping(&nodes[parent].flat, value);
    }
}

static void collect_nodes(cp_graph *graph)
{
    graph->order = cp_heap_alloc(graph->frames->count, sizeof *graph->order);
    for (uint32_t i = 0; i < graph->frames->count; i++) {
        if (graph->nodes[i].cum || graph->nodes[i].flat) {
            graph->order[graph->count++] = i;
        }
    }
}

void cp_graph_init(cp_graph *graph, const cp_frames *frames, uint32_t value_index, const bool *kept,
                   bool with_edges)
{
    const cp_profile *profile = frames->profile;
    graph_builder builder = {
        .graph = graph, .kept = kept, .with_edges = with_edges, .edge_capacity = 1024};

    memset(graph, 0, sizeof *graph);
    graph->frames = frames;
    graph->nodes = cp_heap_alloc(frames->count, sizeof *graph->nodes);
    for (uint32_t i = 0; i < frames->count; i++) {
        graph->nodes[i].frame = i;
        graph->nodes[i].first_in = CP_NO_EDGE;
        graph->nodes[i].first_out = CP_NO_EDGE;
    }
    graph->edges = cp_heap_alloc(builder.edge_capacity, sizeof *graph->edges);
    builder.slots = cp_heap_alloc(FIRST_SLOTS, sizeof *builder.slots);
    builder.mask = FIRST_SLOTS - 1;
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        if (profile->samples[i].values[value_index]) {
            add_sample(&builder, &profile->samples[i], profile->samples[i].values[value_index],
                       i + 1);
        }
    }
    collect_nodes(graph);
    free(builder.slots);
}

void cp_graph_release(cp_graph *graph)
{
    free(graph->nodes);
    free(graph->order);
    free(graph->edges);
    memset(graph, 0, sizeof *graph);
}

int64_t cp_graph_flat_sum(const cp_graph *graph)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < graph->count; i++) {
        add_wrapping(&sum, graph->nodes[graph->order[i]].flat);
    }
    return sum;
}

void cp_graph_cut_edges(cp_graph *graph, int64_t least)
{
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        graph->edges[i].cut = graph->edges[i].cut || cp_measure_abs(graph->edges[i].weight) < least;
    }
}

/* ---- order ---- */

static int compare_values(int64_t left, int64_t right)
{
    left = cp_measure_abs(left);
    right = cp_measure_abs(right);
    return left > right ? -1 : left < right;
}

static int compare_bytes(const char *left, size_t left_length, const char *right,
                         size_t right_length)
{
    size_t shorter = left_length < right_length ? left_length : right_length;
    int order = memcmp(left, right, shorter);

    if (order) {
        return order;
    }
    return left_length < right_length ? -1 : left_length > right_length;
}

static char *attributes(const cp_frames *frames, const cp_frame_key *key)
{
    const cp_profile *profile = frames->profile;

    return cp_heap_printf("{%s  %llu %s %lld %lld %lld %s}", cp_profile_text(profile, key->name),
                          (unsigned long long)key->address, cp_profile_text(profile, key->file),
                          (long long)key->start_line, (long long)key->line, (long long)key->column,
                          cp_profile_text(profile, key->program));
}

/* Orders frames with equal labels, such as two programs of one name, by all their attributes as
 * text. */
static int compare_attributes(const cp_frames *frames, const cp_frame *left, const cp_frame *right)
{
    char *texts[2] = {attributes(frames, &left->key), attributes(frames, &right->key)};
    int order = strcmp(texts[0], texts[1]);

    free(texts[0]);
    free(texts[1]);
    return order;
}

static int compare_nodes(const cp_graph *graph, uint32_t left, uint32_t right, bool by_cum)
{
    const cp_node *a = &graph->nodes[left], *b = &graph->nodes[right];
    const cp_frame *fa = &graph->frames->frames[left];
    const cp_frame *fb = &graph->frames->frames[right];
    int order = by_cum ? compare_values(a->cum, b->cum) : compare_values(a->flat, b->flat);

    if (order == 0) {
        order = compare_bytes(fa->label, fa->label_length, fb->label, fb->label_length);
    }
    if (order == 0) {
        order = by_cum ? compare_values(a->flat, b->flat) : compare_values(a->cum, b->cum);
    }
    if (order == 0 && left != right) {
        order = compare_attributes(graph->frames, fa, fb);
    }
    return order;
}

static int compare_by_flat(const void *left, const void *right, void *graph)
{
    return compare_nodes(graph, *(const uint32_t *)left, *(const uint32_t *)right, false);
}

static int compare_by_cum(const void *left, const void *right, void *graph)
{
    return compare_nodes(graph, *(const uint32_t *)left, *(const uint32_t *)right, true);
}

void cp_graph_sort(cp_graph *graph, bool by_cum)
{
    qsort_r(graph->order, graph->count, sizeof *graph->order,
            by_cum ? compare_by_cum : compare_by_flat, graph);
}
