/* SPDX-License-Identifier: MIT
 *
 * value_rows.h: counts the values of a named profile by stack and set of labels.
 *
 * Zone: NORMAL.
 * Locks: those of the table, during one pass over it.
 * Owns: the references to labels; everything else is in the arena.
 */
#ifndef PP_PROFILE_VALUE_ROWS_H
#define PP_PROFILE_VALUE_ROWS_H

#include "base/arena.h"
#include "profile/count_profile.h"
#include "store/labels.h"
#include "store/value_table.h"

typedef struct pp_value_rows {
    /* In no particular order. The stacks are those of the trie. Each row has a reference to its
     * labels, since a value may go at any time. */
    pp_count_row *list;
    size_t count;
} pp_value_rows;

/* Reads the values as they are at one moment. 0 or -ENOMEM. */
int pp_value_rows_read(pp_value_table *table, pp_arena *arena, pp_value_rows *rows);

/* Drops the references. Also needed after an error. */
static inline void pp_value_rows_release(pp_value_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        pp_labels_unref(rows->list[i].labels);
    }
    rows->count = 0;
}

#endif
