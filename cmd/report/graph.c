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
    const bool *kept, *around;
    size_t edge_capacity;
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

    graph->edges = cp_heap_grow(graph->edges, graph->edge_count, &builder->edge_capacity,
                                sizeof *graph->edges);
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
 * the root decides whether the edge is inlined, and whether it is residual. */
static void count_edge(graph_builder *builder, uint32_t src, uint32_t dest, int64_t value,
                       bool inlined, bool residual, uint32_t stamp)
{
    if (src == dest || (builder->around && !builder->around[src] && !builder->around[dest])) {
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
    edge->residual = edge->residual || residual;
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

            if (builder->kept && !builder->kept[frame]) {
                gap = true;
                continue;
            }
            if (nodes[frame].seen != stamp) {
                nodes[frame].seen = stamp;
                add_wrapping(&nodes[frame].cum, value);
            }
            if (parent != NO_FRAME) {
                count_edge(builder, parent, frame, value, line != end - 1, gap, stamp);
            }
            parent = frame;
            gap = false;
        }
    }
    if (parent != NO_FRAME && !gap) {
        add_wrapping(&nodes[parent].flat, value);
    }
}

/* What a frame has while samples are added up: half of a cache line's worth would be wasted on a
 * whole node. */
typedef struct tally {
    int64_t cum;
    uint32_t seen; /* the last sample that counted it, + 1 */
} tally;

/* Does what add_sample() does for a graph of all frames, without edges. */
static void tally_sample(const cp_frames *frames, const cp_sample *sample, int64_t value,
                         uint32_t stamp, tally *tallies)
{
    for (uint32_t i = 0; i < sample->location_count; i++) {
        uint32_t first = frames->first_of[sample->locations[i]];
        uint32_t end = frames->first_of[sample->locations[i] + 1];

        for (uint32_t line = first; line < end; line++) {
            tally *t = &tallies[frames->of_line[line]];
            if (t->seen != stamp) {
                t->seen = stamp;
                add_wrapping(&t->cum, value);
            }
        }
    }
}

/* The same where no function is inlined, as is usual: a location is one frame. */
static void tally_plain_sample(const cp_frames *frames, const cp_sample *sample, int64_t value,
                               uint32_t stamp, tally *tallies)
{
    for (uint32_t i = 0; i < sample->location_count; i++) {
        tally *t = &tallies[frames->of_line[sample->locations[i]]];

        t->cum = (int64_t)((uint64_t)t->cum + (t->seen == stamp ? 0 : (uint64_t)value));
        t->seen = stamp;
    }
}

static void tally_samples(cp_graph *graph, uint32_t value_index)
{
    const cp_frames *frames = graph->frames;
    const cp_profile *profile = frames->profile;
    tally *tallies = cp_heap_alloc(frames->count, sizeof *tallies);
    bool plain = !cp_frames_have_inlined(frames);

    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const cp_sample *sample = &profile->samples[i];
        int64_t value = sample->values[value_index];

        if (!value || !sample->location_count) {
            continue;
        }
        uint32_t leaf = frames->of_line[frames->first_of[sample->locations[0]]];
        add_wrapping(&graph->nodes[leaf].flat, value);
        if (plain) {
            tally_plain_sample(frames, sample, value, i + 1, tallies);
        } else {
            tally_sample(frames, sample, value, i + 1, tallies);
        }
    }
    for (uint32_t i = 0; i < frames->count; i++) {
        graph->nodes[i].cum = tallies[i].cum;
    }
    free(tallies);
}

static void collect_nodes(cp_graph *graph)
{
    graph->count = 0;
    for (uint32_t i = 0; i < graph->frames->count; i++) {
        if (graph->nodes[i].cum || graph->nodes[i].flat) {
            graph->order[graph->count++] = i;
        }
    }
}

static void add_samples(graph_builder *builder, uint32_t value_index)
{
    const cp_profile *profile = builder->graph->frames->profile;

    for (uint32_t i = 0; i < profile->sample_count; i++) {
        if (profile->samples[i].values[value_index]) {
            add_sample(builder, &profile->samples[i], profile->samples[i].values[value_index],
                       i + 1);
        }
    }
}

static void init_nodes(cp_graph *graph, const cp_frames *frames)
{
    memset(graph, 0, sizeof *graph);
    graph->frames = frames;
    graph->nodes = cp_heap_alloc(frames->count, sizeof *graph->nodes);
    graph->order = cp_heap_alloc(frames->count, sizeof *graph->order);
    for (uint32_t i = 0; i < frames->count; i++) {
        graph->nodes[i].frame = i;
        graph->nodes[i].first_in = CP_NO_EDGE;
        graph->nodes[i].first_out = CP_NO_EDGE;
    }
}

void cp_graph_init(cp_graph *graph, const cp_frames *frames, uint32_t value_index)
{
    init_nodes(graph, frames);
    tally_samples(graph, value_index);
    collect_nodes(graph);
}

void cp_graph_init_with_edges(cp_graph *graph, const cp_frames *frames, uint32_t value_index,
                              const bool *kept, const bool *around)
{
    graph_builder builder = {
        .graph = graph, .kept = kept, .around = around, .mask = FIRST_SLOTS - 1};

    init_nodes(graph, frames);
    builder.slots = cp_heap_alloc(FIRST_SLOTS, sizeof *builder.slots);
    add_samples(&builder, value_index);
    collect_nodes(graph);
    free(builder.slots);
}

bool *cp_graph_keep(cp_graph *graph, uint32_t count)
{
    bool *kept = cp_heap_alloc(graph->frames->count, sizeof *kept);

    for (uint32_t i = 0; i < count; i++) {
        kept[graph->order[i]] = true;
    }
    for (uint32_t i = 0; i < graph->frames->count; i++) {
        if (!kept[i]) {
            graph->nodes[i].flat = graph->nodes[i].cum = 0;
        }
    }
    collect_nodes(graph);
    return kept;
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

/* The order of nodes of which the values are equal that they are sorted by. */
static int compare_names(const cp_graph *graph, uint32_t left, uint32_t right, bool by_cum)
{
    const cp_node *a = &graph->nodes[left], *b = &graph->nodes[right];
    const cp_frame *fa = &graph->frames->frames[left];
    const cp_frame *fb = &graph->frames->frames[right];
    int order = compare_bytes(fa->label, fa->label_length, fb->label, fb->label_length);

    if (order == 0) {
        order = by_cum ? compare_values(a->flat, b->flat) : compare_values(a->cum, b->cum);
    }
    if (order == 0 && left != right) {
        order = compare_attributes(graph->frames, fa, fb);
    }
    return order;
}

static int compare_nodes(const cp_graph *graph, uint32_t left, uint32_t right, bool by_cum)
{
    const cp_node *a = &graph->nodes[left], *b = &graph->nodes[right];
    int order = by_cum ? compare_values(a->cum, b->cum) : compare_values(a->flat, b->flat);

    return order ? order : compare_names(graph, left, right, by_cum);
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

typedef struct scored {
    const cp_graph *graph;
    const int64_t *scores;
} scored;

static int compare_scores(const void *left, const void *right, void *context)
{
    const scored *s = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int order = compare_values(s->scores[a], s->scores[b]);

    return order ? order : compare_names(s->graph, a, b, true);
}

void cp_graph_sort_by(cp_graph *graph, const int64_t *scores)
{
    scored context = {graph, scores};

    qsort_r(graph->order, graph->count, sizeof *graph->order, compare_scores, &context);
}
