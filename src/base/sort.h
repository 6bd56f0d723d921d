/* SPDX-License-Identifier: MIT
 *
 * sort.h: sorting in place, without memory.
 *
 * The libc's qsort() may call malloc, which is forbidden where profiles are written. This is a
 * heapsort: n log n in the worst case too, no recursion, no scratch memory. It is not stable; a
 * comparison that knows ties breaks them itself (by index), which also makes profiles
 * deterministic.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_BASE_SORT_H
#define PP_BASE_SORT_H

#include <stddef.h>

enum { PP_SORT_ITEM_MAX = 64 /* bytes of an item; one is held on the stack */ };

/* Below zero if a comes before b, above zero if after, 0 if either will do. */
typedef int pp_sort_compare(const void *a, const void *b, void *context);

/* Sorts `count` items of `size` bytes (at most PP_SORT_ITEM_MAX). */
void pp_sort(void *items, size_t count, size_t size, pp_sort_compare *compare, void *context);

#endif
