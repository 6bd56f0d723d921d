/* SPDX-License-Identifier: MIT
 *
 * sort.c: bottom-up heapsort.
 *
 * Removing the largest item leaves a hole at the root of the heap, and an item from the end to
 * place. The hole first moves down to a leaf along the larger children, with one comparison for
 * each level; the item then climbs from there, nearly always by zero or one level. This takes about
 * half of the comparisons of the textbook form. (I. Wegener, "Bottom-up heapsort", 1993.)
 *
 * Zone: SIGNAL.
 */
#include "base/sort.h"

#include <string.h>

typedef struct heap {
    char *items;
    size_t size; /* of an item */
    pp_sort_compare *compare;
    void *context;
} heap;

static char *item_at(const heap *h, size_t index)
{
    return h->items + index * h->size;
}

/* Puts `item` into the heap [root, count) whose root is a hole. */
static void place(const heap *h, const char *item, size_t root, size_t count)
{
    size_t hole = root;
    for (size_t child = 2 * hole + 1; child < count; child = 2 * hole + 1) {
        if (child + 1 < count &&
            h->compare(item_at(h, child), item_at(h, child + 1), h->context) < 0) {
            child++;
        }
        memcpy(item_at(h, hole), item_at(h, child), h->size);
        hole = child;
    }
    while (hole > root) {
        size_t parent = (hole - 1) / 2;
        if (h->compare(item_at(h, parent), item, h->context) >= 0) {
            break;
        }
        memcpy(item_at(h, hole), item_at(h, parent), h->size);
        hole = parent;
    }
    memcpy(item_at(h, hole), item, h->size);
}

void pp_sort_sized(void *items, size_t count, size_t size, pp_sort_compare *compare, void *context)
{
    _Alignas(16) char item[PP_SORT_ITEM_MAX];
    heap h = {items, size, compare, context};

    for (size_t root = count / 2; root-- > 0;) {
        memcpy(item, item_at(&h, root), size);
        place(&h, item, root, count);
    }
    for (size_t end = count; end-- > 1;) {
        memcpy(item, item_at(&h, end), size);
        memcpy(item_at(&h, end), item_at(&h, 0), size);
        place(&h, item, 0, end);
    }
}
