/* SPDX-License-Identifier: MIT
 *
 * own_frames.h: libpprof's own frames are in no stack.
 *
 * A stack that begins at a hook's caller has none by itself. But a hook calls the real function,
 * and what that does may come to another hook, or be sampled: the hook's frames lie between.
 *
 *   malloc <- fopen (libc) <- pp_descriptor_slow <- fopen (ours) <- main
 *   malloc <- fopen (libc) <------------------------------------------ main          as if there were no hook
 *
 * So a call by way of the hook's slow path (the first one of all, before the real function is
 * known) has the stack that later calls have. A sample that landed in our own code is shown in the
 * function that the program called:
 *
 *   pp_wait_begin <- pp_wait_slow <- pthread_mutex_lock (ours) <- main
 *                                    pthread_mutex_lock        <- main
 *
 * That is the outermost of our frames there: the entries of the hooks (arch/) have all that comes
 * before C within one symbol, and public functions of C are compiled without tail calls. Exceptions
 * are in tables (base/shown_as.h).
 *
 * Zone: SIGNAL.
 */
#ifndef PP_UNWIND_OWN_FRAMES_H
#define PP_UNWIND_OWN_FRAMES_H

#include "base/compiler.h"
#include "modules/own_code.h"
#include "unwind/walk_space.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the instruction in front of a return-like address is ours. */
static inline bool pp_own_frame_is(uintptr_t pc)
{
    return pp_own_code_has(pc - 1);
}

/* The first one from `from` on that is; `depth` if there is none. */
static inline uint32_t pp_own_frames_next(const uintptr_t *pcs, uint32_t from, uint32_t depth)
{
    while (from < depth && pp_likely(!pp_own_frame_is(pcs[from]))) {
        from++;
    }
    return from;
}

/* Leaves our frames out, pcs[first] and those behind it. Returns how many are left. `space`: where
 * pcs[0] is not a caller's frame but where the thread was interrupted; NULL otherwise. */
uint32_t pp_own_frames_cut(uintptr_t *pcs, uint32_t first, uint32_t depth, pp_walk_space *space);

/* Of callers' frames. */
static inline uint32_t pp_own_frames_leave_out(uintptr_t *pcs, uint32_t depth)
{
    uint32_t first = pp_own_frames_next(pcs, 0, depth);
    return first < depth ? pp_own_frames_cut(pcs, first, depth, NULL) : depth;
}

#endif
