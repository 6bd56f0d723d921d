/* SPDX-License-Identifier: MIT
 *
 * heap_text.c: the memory statistics first, so that they do not count the rest, then the rows.
 *
 * Zone: NORMAL.
 */
#include "kinds/heap/heap_text_parts.h"

#include "kinds/heap/heap_profile.h"

int pp_heap_text_build(pp_arena *arena, pp_heap_text *text)
{
    pp_heap_rows rows;
    pp_memory_stats_read(&text->memory);
    int error = pp_heap_rows_read(PP_HEAP_NOW, PP_HEAP_EITHER, PP_HEAP_INUSE_SPACE, arena, &rows);
    if (error != 0) {
        return error;
    }
    pp_memory_stats_estimate(&rows, &text->memory);
    text->scaled = rows.scaled;
    text->rate = rows.rate;
    return pp_heap_profile_of_rows(&rows, PP_HEAP_INUSE, arena, &text->profile);
}
