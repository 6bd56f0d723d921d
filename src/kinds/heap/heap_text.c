/* SPDX-License-Identifier: MIT
 *
 * heap_text.c: collects what the text form shows, and has legacy_heap.c encode it.
 *
 * This file is not a part of heap_profile.c, which also serves the writer of a fatal signal: the
 * memory statistics ask the allocator, which another thread may have locked then.
 *
 * Zone: NORMAL.
 * Tested by: e2e.heap_text, e2e.text_forms
 */
#include "kinds/heap/heap_text.h"

#include "kinds/heap/heap_profile.h"
#include "kinds/heap/legacy_heap.h"
#include "output/symbolize.h"

/* Reads the memory statistics first, so that they do not count the memory of the rows. Samples are
 * in the order of bytes in use, whatever the profile's name is, as in Go. */
static int collect(pp_arena *arena, pp_legacy_heap *heap)
{
    pp_heap_rows rows;
    pp_memory_stats_read(&heap->memory);
    int error = pp_heap_rows_read(PP_HEAP_NOW, PP_HEAP_EITHER, PP_HEAP_INUSE_SPACE, arena, &rows);
    if (error != 0) {
        return error;
    }
    pp_memory_stats_estimate(&rows, &heap->memory);
    heap->scaled = rows.scaled;
    heap->rate = rows.rate;
    return pp_heap_profile_of_rows(&rows, PP_HEAP_INUSE, arena, &heap->profile);
}

int pp_heap_text_write(bool bare, pprof_writer writer)
{
    pp_arena arena = PP_ARENA_INIT;
    pp_legacy_heap heap;
    int error = collect(&arena, &heap);
    if (error == 0) {
        heap.profile.symbolize = pp_symbolize_wanted();
        error = pp_legacy_heap_encode(&heap, bare, &arena, writer);
    }
    pp_arena_release(&arena);
    return error;
}
