/* SPDX-License-Identifier: MIT
 *
 * graph.h: who called whom and what it cost, function by function.
 *
 * A graph adds the samples of a profile up over its frames (frame_table.h). It can be built again
 * over the frames that matter, so that what was cut out shows as gaps and not as wrong sums.
 *
 *   flat   samples in which the frame is the leaf
 *   cum    samples in which it occurs, once each however deep it recurses
 *   edge   samples in which src directly calls dest, or did before what lay between was cut
 *
 * Owns: its arrays; frames and profile stay the caller's.
 */
#ifndef CP_GRAPH_H
#define CP_GRAPH_H

#include "frame_table.h"

typedef struct cp_edge {
    uint32_t src, dest; /* nodes */
    int64_t weight;
    bool inlined;     /* every such call was inlined */
    bool cut;         /* removed as too small */
    uint32_t next_in; /* the next edge into dest, or CP_NO_EDGE */
} cp_edge;

#define CP_NO_EDGE UINT32_MAX

typedef struct cp_node {
    uint32_t frame;
    int64_t flat, cum;
    uint32_t first_in; /* the first edge into it, or CP_NO_EDGE */
} cp_node;

/* nodes[] is indexed by frame; order[] holds the frames that are in the graph. */
typedef struct cp_graph {
    const cp_frames *frames;
    cp_node *nodes;
    uint32_t *order;
    uint32_t count; /* of order[] */
    cp_edge *edges;
    uint32_t edge_count;
} cp_graph;

/* Adds up the sample type `value_index`. `kept`, one bool per frame, or NULL for all. Edges are
 * what costs most in a large profile: without `with_edges` there are none. */
void cp_graph_init(cp_graph *graph, const cp_frames *frames, uint32_t value_index, const bool *kept,
                   bool with_edges);
void cp_graph_release(cp_graph *graph);

int64_t cp_graph_flat_sum(const cp_graph *graph);

/* Sorts order[]: by flat or by cum value, largest first, then by label. */
void cp_graph_sort(cp_graph *graph, bool by_cum);

/* Cuts edges whose weight is below the limit. */
void cp_graph_cut_edges(cp_graph *graph, int64_t least);

#endif
