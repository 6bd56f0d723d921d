/* SPDX-License-Identifier: MIT
 *
 * heap_text.c: snapshot, encode, write. Apart from heap_control.c, which also serves the writer of
 * a fatal signal: the memory statistics ask the allocator, whose locks may then be held.
 *
 * Zone: NORMAL.
 */
#include "kinds/heap/heap_text.h"

#include "kinds/heap/legacy_heap.h"
#include "output/symbolize.h"

int pp_heap_text_write(bool bare, pprof_writer writer)
{
    pp_arena arena = PP_ARENA_INIT;
    pp_heap_text text;
    int error = pp_heap_text_build(&arena, &text);
    if (error == 0) {
        text.profile.symbolize = pp_symbolize_wanted();
        error = pp_legacy_heap_encode(&text, bare, &arena, writer);
    }
    pp_arena_release(&arena);
    return error;
}
