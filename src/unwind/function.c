/* SPDX-License-Identifier: MIT
 *
 * function.c: looks up the function of a frame that is on no stack.
 *
 * Zone: SIGNAL.
 * Tested by: unit.own_frames
 */
#include "unwind/function.h"

#include "modules/loader.h"
#include "unwind/frame.h"
#include "unwind/rule_cache.h"

uintptr_t pp_function_of(uintptr_t address)
{
    pp_walk_space space;
    return pp_function_within(NULL, address, &space);
}

uintptr_t pp_function_within(const pp_walk_target *target, uintptr_t address, pp_walk_space *space)
{
    pp_frame *f = &space->frame;
    *f =
        (pp_frame){.pc = address + 1, .space = space, .target = target, .epoch = pp_loader_epoch()};
    f->generation = pp_rule_cache_generation(f->epoch);
    uintptr_t function = pp_frame_rule(f).start;
    pp_frame_close(f);
    return space->rule.kind == PP_RULE_FRAME ? function : 0;
}
