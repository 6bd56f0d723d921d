/* SPDX-License-Identifier: MIT
 *
 * dot_graph.h: the choice of nodes and edges of a call graph that is drawn.
 *
 * The most interesting nodes come first: those whose cost does not only pass through from one
 * caller to one callee. Edges over nodes that were left out are residual; one of them is left out
 * as well if another way leads along.
 */
#ifndef CP_DOT_GRAPH_H
#define CP_DOT_GRAPH_H

#include "convert/dot_tags.h"

/* Most tags of one sort that hang at a node. */
enum { CP_DOT_TAGS = 4 };

/* Builds the report's graph, at most options->node_count nodes, and `tags`, which the caller
 * releases. Chooses the unit of the values. */
void cp_dot_choose(cp_report *report, cp_dot_tags *tags);

/* Compares two pointers to edges for qsort_r(): the lightest last, equal ones by the names of caller
 * and callee. */
int cp_dot_compare_edges(const void *left, const void *right, void *graph);

#endif
