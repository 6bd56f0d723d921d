/* SPDX-License-Identifier: MIT
 *
 * flame_tree.c: see flame_tree.h.
 *
 * Owns: the index, while a tree is built.
 * Tested by: e2e.cpprof_svg.
 */
#include "convert/flame_tree.h"

#include "base/index_table.h"
#include "base/string_pool.h"

#include <stdlib.h>

typedef struct builder {
    cp_flame_tree *tree;
    cp_index_table index; /* by parent and frame */
} builder;

static uint32_t append(cp_flame_tree *tree, uint32_t parent, uint32_t frame)
{
    tree->nodes = cp_heap_grow(tree->nodes, tree->count, &tree->room, sizeof *tree->nodes);
    uint32_t index = tree->count++;
    tree->nodes[index] = (cp_flame_node){.frame = frame, .parent = parent};
    if (index) {
        tree->nodes[index].next = tree->nodes[parent].first_child;
        tree->nodes[parent].first_child = index;
    }
    return index;
}

static uint32_t child(builder *b, uint32_t parent, uint32_t frame)
{
    const uint32_t key[] = {parent, frame};
    uint64_t hash = cp_hash_bytes(key, sizeof key, 0), at = hash;
    uint32_t index;

    while (cp_index_next(&b->index, hash, &at, &index)) {
        if (b->tree->nodes[index].parent == parent && b->tree->nodes[index].frame == frame) {
            return index;
        }
    }
    index = append(b->tree, parent, frame);
    cp_index_add(&b->index, hash, index);
    return index;
}

static void add_stack(builder *b, const cp_stack_sum *stack, int64_t value, uint32_t deeper)
{
    uint32_t node = 0;

    b->tree->nodes[0].width += value;
    for (uint32_t i = 0; i < stack->frame_count && i <= CP_FLAME_DEPTH; i++) {
        node = child(b, node, i < CP_FLAME_DEPTH ? stack->frames[i] : deeper);
        b->tree->nodes[node].width += value;
    }
}

void cp_flame_tree_init(cp_flame_tree *tree, const cp_stack_sums *sums, uint32_t type,
                        uint32_t deeper)
{
    builder b = {.tree = tree};

    *tree = (cp_flame_tree){0};
    cp_index_init(&b.index, 1024);
    append(tree, 0, deeper);
    for (uint32_t i = 0; i < sums->count; i++) {
        int64_t value = sums->stacks[i].values[type], total;

        if (value > 0 && !__builtin_add_overflow(tree->nodes[0].width, value, &total)) {
            add_stack(&b, &sums->stacks[i], value, deeper);
        }
    }
    cp_index_release(&b.index);
}

void cp_flame_tree_release(cp_flame_tree *tree)
{
    free(tree->nodes);
}

static int compare_widths(const void *left, const void *right, void *context)
{
    const cp_flame_tree *tree = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    if (tree->nodes[a].width != tree->nodes[b].width) {
        return tree->nodes[a].width > tree->nodes[b].width ? -1 : 1;
    }
    return a < b ? -1 : a > b;
}

uint32_t cp_flame_children(const cp_flame_tree *tree, uint32_t node, uint32_t *children)
{
    uint32_t count = 0;

    for (uint32_t at = tree->nodes[node].first_child; at; at = tree->nodes[at].next) {
        children[count++] = at;
    }
    qsort_r(children, count, sizeof *children, compare_widths, (void *)(uintptr_t)tree);
    return count;
}
