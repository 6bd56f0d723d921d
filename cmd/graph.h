/* SPDX-License-Identifier: MIT
 *
 * graph.h: who called whom and what it cost, function by function.
 *
 * A profile is first turned into frames: one for each function name, and one for each program whose
 * addresses have no names. A graph adds the samples up over the frames. It can be built again over
 * the frames that matter, so that what was cut out shows as gaps and not as wrong sums.
 *
 *   flat   samples in which the frame is the leaf
 *   cum    samples in which it occurs, once each however deep it recurses
 *   edge   samples in which src directly calls dest, or did before what lay between was cut
 *
 * Owns: a pp_frames and a pp_graph each own their arrays; strings stay the profile's.
 */
#ifndef CPPROF_GRAPH_H
#define CPPROF_GRAPH_H

#include "profile_model.h"

struct pp_frame {
    pp_string name;     /* 0: none known */
    pp_string program;  /* only if there is no name: the mapping's file */
    int64_t start_line; /* likewise */
    const char *label;  /* what reports print: the name, "[program]" or "<unknown>" */
    size_t label_length;
};

struct pp_frames {
    const struct pp_profile *profile;
    struct pp_frame *frames;
    uint32_t count;
    uint32_t *of_line;  /* frames of all locations' lines, the innermost first */
    uint32_t *first_of; /* per location: where its part of of_line begins; one more at the end */
    struct pp_pool pool;
};

struct pp_edge {
    uint32_t src, dest; /* nodes */
    int64_t weight;
    bool inlined; /* every such call was inlined */
    bool cut;     /* removed as too small */
    uint32_t next_in; /* the next edge into dest, or PP_NO_EDGE */
};

#define PP_NO_EDGE UINT32_MAX

struct pp_node {
    uint32_t frame;
    int64_t flat, cum;
    uint32_t first_in; /* the first edge into it, or PP_NO_EDGE */
};

/* nodes[] is indexed by frame; order[] holds the frames that are in the graph. */
struct pp_graph {
    const struct pp_frames *frames;
    struct pp_node *nodes;
    uint32_t *order;
    uint32_t count; /* of order[] */
    struct pp_edge *edges;
    uint32_t edge_count;
};

void pp_frames_init(struct pp_frames *frames, const struct pp_profile *profile);
void pp_frames_release(struct pp_frames *frames);

/* Adds up the sample type `value_index`. `kept`, one bool per frame, or NULL for all. */
void pp_graph_init(struct pp_graph *graph, const struct pp_frames *frames, uint32_t value_index,
                   const bool *kept);
void pp_graph_release(struct pp_graph *graph);

int64_t pp_graph_flat_sum(const struct pp_graph *graph);

/* Sorts order[]: by flat or by cum value, largest first, then by label. */
void pp_graph_sort(struct pp_graph *graph, bool by_cum);

/* Cuts edges whose weight is below the limit. */
void pp_graph_cut_edges(struct pp_graph *graph, int64_t least);

#endif
