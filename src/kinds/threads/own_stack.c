/* SPDX-License-Identifier: MIT
 *
 * own_stack.c: walks the calling thread's stack, and removes libpprof's frames from it.
 *
 * The frames up to the public function that the program called are recognized by that function.
 * Others are recognized by the code that they are in (unwind/own_frames.h).
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: e2e.thread_profile, e2e.tail_calls
 */
#include "kinds/threads/own_stack.h"

#include "unwind/callers.h"
#include "unwind/function.h"
#include "unwind/own_frames.h"
#include "unwind/walk.h"

#include "pprof.h"

#include <stdbool.h>
#include <string.h>

enum { OWN_FRAMES = 12 /* at most so many are between the program's frame and this file's */ };

static bool is_entry(uintptr_t function)
{
    return function == (uintptr_t)pprof_profile_write || function == (uintptr_t)pprof_stack_text ||
           function == (uintptr_t)pprof_thread_profile;
}

uint32_t pp_own_stack(uintptr_t *pcs, size_t capacity)
{
    size_t depth = pp_callers_uncut(0, pcs, capacity);
    for (size_t i = 0; i < depth && i < OWN_FRAMES; i++) {
        if (is_entry(pp_function_of(pcs[i] - 1))) {
            depth -= i + 1;
            memmove(pcs, pcs + i + 1, depth * sizeof *pcs);
            break;
        }
    }
    return pp_own_frames_leave_out(pcs, (uint32_t)depth);
}

uint32_t pp_own_stack_at(const void *context, uintptr_t *pcs, size_t capacity)
{
    pp_walk_space space;
    pp_walk walk = {.pcs = pcs,
                    .space = &space,
                    .capacity = capacity < UINT32_MAX ? (uint32_t)capacity : UINT32_MAX};
    pp_walk_from_context(context, &walk);
    return walk.depth;
}
