/* SPDX-License-Identifier: MIT
 *
 * graph.h: the call graph of a profile: which function called which, and the cost of each.
 *
 * A graph adds up the samples of a profile over its frames (frame_table.h). A report builds it a
 * second time, with only the frames that matter: a frame that was cut out then shows as a gap, not
 * as a wrong sum.
 *
 *   flat   samples in which the frame is the leaf
 *   cum    samples in which the frame occurs, each counted once even if the frame recurses
 *   edge   samples in which src calls dest, directly or through frames that were cut out
 *
 * Owns: the arrays of a graph; the caller owns frames and profile.
 */
#ifndef CP_GRAPH_H
#define CP_GRAPH_H

#include "report/frame_table.h"

typedef struct cp_edge {
    uint32_t src, dest; /* nodes */
    int64_t weight;
    bool inlined;      /* every such call was inlined */
    bool cut;          /* removed as too small */
    bool residual;     /* goes over frames that were cut out */
    uint32_t seen;     /* while the graph is built: the last sample that counted it, + 1 */
    uint32_t next_in;  /* the next edge into dest, or CP_NO_EDGE */
    uint32_t next_out; /* the next edge from src, or CP_NO_EDGE */
} cp_edge;

#define CP_NO_EDGE UINT32_MAX

typedef struct cp_node {
    uint32_t frame;
    uint32_t seen; /* while the graph is built: the last sample that counted it, + 1 */
    int64_t flat, cum;
    uint32_t first_in;  /* the first edge into it, or CP_NO_EDGE */
    uint32_t first_out; /* the first edge from it, or CP_NO_EDGE */
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

/* Adds up the sample type `value_index` over all frames, without edges. */
void cp_graph_init(cp_graph *graph, const cp_frames *frames, uint32_t value_index);
/* Adds it up over the frames for which `kept` is true, NULL: over all, with the edges between these.
 * An edge goes from a caller that is kept to the next frame in the stack that is kept. If `around`
 * is not NULL, only the edges from and to the frames for which it is true are made: a large profile
 * has many more edges than frames. */
void cp_graph_init_with_edges(cp_graph *graph, const cp_frames *frames, uint32_t value_index,
                              const bool *kept, const bool *around);
void cp_graph_release(cp_graph *graph);

/* Drops all frames from a graph without edges but the first `count` of its order. Returns, per
 * frame, whether it was kept; to be freed. */
bool *cp_graph_keep(cp_graph *graph, uint32_t count);

int64_t cp_graph_flat_sum(const cp_graph *graph);

/* Sorts order[] by flat or by cum value, the largest first; equal values by label. */
void cp_graph_sort(cp_graph *graph, bool by_cum);

/* Sorts order[] by scores, which are indexed by frame: the largest absolute one first; equal ones as
 * cp_graph_sort() does by cum. */
void cp_graph_sort_by(cp_graph *graph, const int64_t *scores);

/* Cuts edges whose weight is below `least`. */
void cp_graph_cut_edges(cp_graph *graph, int64_t least);

#endif
