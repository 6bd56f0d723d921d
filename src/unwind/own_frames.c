/* SPDX-License-Identifier: MIT
 *
 * own_frames.c: removes addresses in libpprof's code from stacks. Most stacks have none.
 *
 * Zone: SIGNAL.
 */
#include "unwind/own_frames.h"

#include "arch/shown_as.h"
#include "base/compiler.h"
#include "unwind/explain.h"

#include <stddef.h>

/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the linker's */
PP_TABLE(pp_shown_as)
PP_TABLE(pp_own_work)
PP_TABLE(pp_stays)
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

static const pp_shown_as *find(const pp_shown_as *start, const pp_shown_as *stop,
                               uintptr_t function)
{
    for (const pp_shown_as *row = start; row != stop; row++) {
        if (pp_row_address(&row->function) == function) {
            return row;
        }
    }
    return NULL;
}

/* The function that is shown for a frame of libpprof; 0 = none. */
static uintptr_t function_shown(uintptr_t function)
{
    const pp_shown_as *row = find(__start_pp_shown_as, __stop_pp_shown_as, function);
    if (row == NULL) {
        return function;
    }
    return row->entry != 0 ? pp_row_address(&row->entry) : 0;
}

/* Whether the frame is of a hook that calls, in place of the real function, what that calls. */
static bool stays(uintptr_t pc)
{
    return find(__start_pp_stays, __stop_pp_stays, pc) != NULL;
}

/* Whether the frames before pcs[own] work for libpprof. */
static bool is_own_work(const pp_walk_target *target, const uintptr_t *pcs, uint32_t own,
                        pp_walk_space *space)
{
    if (own == 0) {
        return true;
    }
    return !stays(pcs[own]) && ((target == NULL && pp_own_code_is_clock(pcs[own - 1] - 1)) ||
                                find(__start_pp_own_work, __stop_pp_own_work,
                                     pp_function_within(target, pcs[own] - 1, space)) != NULL);
}

static uint32_t end_of_own(const pp_walk_target *target, const uintptr_t *pcs, uint32_t from,
                           uint32_t depth)
{
    while (from < depth && pp_own_frame_is(target, pcs[from])) {
        from++;
    }
    return from;
}

/* The index after the frames of the innermost work of libpprof, if it was interrupted; else 0.
 * Such work includes calls of libc, and calls from libc of libpprof. */
static uint32_t end_of_work(const pp_walk_target *target, const uintptr_t *pcs, uint32_t first,
                            uint32_t depth, pp_walk_space *space)
{
    uint32_t end = 0;
    while (first < depth && is_own_work(target, pcs, first, space)) {
        end = end_of_own(target, pcs, first, depth);
        first = pp_own_frames_next(target, pcs, end, depth);
    }
    return end;
}

/*
 * The frames up to pcs[end - 1], which is libpprof's, are libpprof's work. Leaves one frame of
 * them, or none, and returns how many. A frame whose function is not known stays as it is.
 */
static uint32_t show_function(const pp_walk_target *target, uintptr_t *pcs, uint32_t end,
                              uint32_t depth, pp_walk_space *space)
{
    if (target == NULL && end < depth && pp_own_code_shows(pcs[end] - 1)) {
        return 0; /* pcs[end], which called them, shows it */
    }
    uintptr_t function = pp_function_within(target, pcs[end - 1] - 1, space);
    uintptr_t shown = function != 0 ? function_shown(function) : pcs[end - 1] - 1;
    if (shown == 0 && end == depth) {
        shown = pcs[end - 1] - 1;
    }
    pcs[0] = shown + 1;
    return shown != 0;
}

PP_COLD_PATH uint32_t pp_own_frames_cut(const pp_walk_target *target, uintptr_t *pcs,
                                        uint32_t first, uint32_t depth, pp_walk_space *space)
{
    uint32_t end = space != NULL ? end_of_work(target, pcs, first, depth, space) : 0;
    uint32_t kept = end != 0 ? show_function(target, pcs, end, depth, space) : first;
    for (uint32_t next = end != 0 ? end : first; next < depth; next++) {
        if (!pp_own_frame_is(target, pcs[next]) || (space != NULL && stays(pcs[next]))) {
            pcs[kept++] = pcs[next];
        }
    }
    return kept;
}
