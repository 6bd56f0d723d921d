/* SPDX-License-Identifier: MIT
 *
 * sort.h: sorts in place, without allocating memory.
 *
 * libc's qsort() may call malloc, which code that writes profiles must not do. This is a heapsort:
 * n log n in the worst case too, no recursion, no scratch memory. It is not stable; a comparison
 * breaks its ties itself (by index), which also makes profiles deterministic.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_BASE_SORT_H
#define PP_BASE_SORT_H

#include <stddef.h>

enum { PP_SORT_ITEM_MAX = 96 /* bytes of an item; the sort keeps one on the stack */ };

/* Returns less than 0 if `a` comes before `b`, more than 0 if after, 0 if the order is free. */
typedef int pp_sort_compare(const void *a, const void *b, void *context);

/* Sorts `count` items of `size` bytes (at most PP_SORT_ITEM_MAX). */
void pp_sort_sized(void *items, size_t count, size_t size, pp_sort_compare *compare, void *context);

/* The same for a size that the compiler knows, and refuses if it is too large. */
#define pp_sort(items, count, size, compare, context)                                              \
    ({                                                                                             \
        _Static_assert((size) <= PP_SORT_ITEM_MAX, "the sort has no room for such an item");       \
        pp_sort_sized(items, count, size, compare, context);                                       \
    })

#endif
