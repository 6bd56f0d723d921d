/* SPDX-License-Identifier: MIT
 *
 * work_rounds.c: a round of ordinary work: a hash over a buffer, a sort with a comparison function,
 * a tree that is built and searched recursively.
 */
#include "victims/work_rounds.h"

#include <stdlib.h>

enum { WORDS = 20000, NODES = 20000 };

typedef struct node {
    uint32_t key, count;
    struct node *left, *right;
} node;

static uint32_t words[WORDS];
static node nodes[NODES];

static void fill(void)
{
    uint64_t state = 1;
    for (unsigned i = 0; i < WORDS; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        words[i] = (uint32_t)(state >> 40);
    }
}

/* FNV-1a. */
static __attribute__((noinline)) uint64_t hash(const void *data, size_t size)
{
    const unsigned char *bytes = data;
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++) {
        h = (h ^ bytes[i]) * UINT64_C(0x100000001b3);
    }
    return h;
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static __attribute__((noinline)) node *insert(node *tree, node *new_node)
{
    if (tree == NULL) {
        return new_node;
    }
    if (new_node->key == tree->key) {
        tree->count++;
    } else if (new_node->key < tree->key) {
        tree->left = insert(tree->left, new_node);
    } else {
        tree->right = insert(tree->right, new_node);
    }
    return tree;
}

static __attribute__((noinline)) uint64_t sum(const node *tree, uint64_t depth)
{
    if (tree == NULL) {
        return 0;
    }
    return sum(tree->left, depth + 1) + tree->key * depth + sum(tree->right, depth + 1);
}

static __attribute__((noinline)) uint64_t grow_and_sum(void)
{
    node *tree = NULL;
    for (unsigned i = 0; i < NODES; i++) {
        nodes[i] = (node){.key = words[i], .count = 1};
        tree = insert(tree, &nodes[i]);
    }
    return sum(tree, 1);
}

uint64_t work_round(void)
{
    fill();
    uint64_t result = grow_and_sum();
    for (unsigned i = 0; i < 20; i++) {
        result ^= hash(words, sizeof words);
    }
    qsort(words, WORDS, sizeof *words, compare);
    return result ^ hash(words, sizeof words);
}
