/* SPDX-License-Identifier: MIT
 *
 * flame_tree.h: the stacks of a report as a tree: what is drawn in a flame graph.
 *
 * A node is a path from the root; its width is the sum of the stacks that begin with it. Stacks
 * with a value below 0 are left out. As on the page, paths end after 4000 frames in the frame
 * "[deeper frames]", and the widest child comes first.
 *
 * Owns: the nodes, until cp_flame_tree_release().
 */
#ifndef CP_FLAME_TREE_H
#define CP_FLAME_TREE_H

#include "convert/stack_sums.h"

#define CP_FLAME_DEPTH 4000

typedef struct cp_flame_node {
    uint32_t frame; /* of the report's table; its count stands for "[deeper frames]" */
    uint32_t parent;
    uint32_t first_child, next; /* 0: none */
    int64_t width;
} cp_flame_node;

/* Node 0 is the root, and no frame. */
typedef struct cp_flame_tree {
    cp_flame_node *nodes;
    uint32_t count;
    size_t room;
} cp_flame_tree;

void cp_flame_tree_init(cp_flame_tree *tree, const cp_stack_sums *sums, uint32_t type,
                        uint32_t deeper);
void cp_flame_tree_release(cp_flame_tree *tree);

/* Lists the children of a node, the widest first, in `children`, which has room for all nodes.
 * Returns how many. */
uint32_t cp_flame_children(const cp_flame_tree *tree, uint32_t node, uint32_t *children);

#endif
