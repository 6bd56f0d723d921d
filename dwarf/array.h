/* SPDX-License-Identifier: MIT
 *
 * array.h: growth of an array by one element.
 */
#ifndef PP_DWARF_ARRAY_H
#define PP_DWARF_ARRAY_H

#include <stddef.h>
#include <stdlib.h>

/* Returns `elements` (or NULL) with room for at least count + 1 elements; *room is the number for
 * which there is room. Without memory it returns NULL and changes nothing. */
static inline void *pp_array_more(void *elements, size_t *room, size_t count, size_t size)
{
    enum { FIRST = 64 };
    if (count < *room) {
        return elements;
    }
    size_t wanted = *room > 0 ? 2 * *room : FIRST;
    void *more = reallocarray(elements, wanted, size);
    if (more != NULL) {
        *room = wanted;
    }
    return more;
}

#endif
