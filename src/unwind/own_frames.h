/* SPDX-License-Identifier: MIT
 *
 * own_frames.h: leaves libpprof's own frames out of stacks.
 *
 * A stack that begins at a hook's caller has none of them. But a hook calls the real function,
 * which may call another hook or be sampled: then the frames of the first hook are in the stack.
 *
 *   malloc <- fopen (libc) <- pp_fd_slow <- fopen (hook) <- main
 *   malloc <- fopen (libc) <--------------------------------------- main        as without a hook
 *
 * So a call that takes the hook's slow path (such as the first call, before the real function is
 * known) has the stack that later calls have. A sample within libpprof's code is shown in the
 * function that the program called:
 *
 *   pp_wait_begin <- pp_wait_slow <- pthread_mutex_lock (hook) <- main
 *                                    pthread_mutex_lock        <- main
 *
 * That function is the outermost frame of libpprof there: the entries of the hooks have all
 * code before the first C function within one symbol, and public C functions are compiled without
 * tail calls. Tables list the exceptions (arch/shown_as.h).
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

/* Whether the instruction before a return-like address is in libpprof's code: in `target`, or, if
 * that is NULL, in this process. */
static inline bool pp_own_frame_is(const pp_walk_target *target, uintptr_t pc)
{
    return pp_target_has_own_code(target, pc - 1);
}

/* The index of the first such address from `from` on; `depth` if there is none. */
static inline uint32_t pp_own_frames_next(const pp_walk_target *target, const uintptr_t *pcs,
                                          uint32_t from, uint32_t depth)
{
    while (from < depth && pp_likely(!pp_own_frame_is(target, pcs[from]))) {
        from++;
    }
    return from;
}

/* Removes libpprof's frames, of which pcs[first] is the first. Returns how many frames are left.
 * `space` is to work in, where pcs[0] is the place at which the thread was interrupted; NULL where
 * pcs[0] is a caller's frame. */
uint32_t pp_own_frames_cut(const pp_walk_target *target, uintptr_t *pcs, uint32_t first,
                           uint32_t depth, pp_walk_space *space);

/* Removes libpprof's frames from a stack whose first frame is a caller's. Returns how many frames
 * are left. */
static inline uint32_t pp_own_frames_leave_out(uintptr_t *pcs, uint32_t depth)
{
    uint32_t first = pp_own_frames_next(NULL, pcs, 0, depth);
    return first < depth ? pp_own_frames_cut(NULL, pcs, first, depth, NULL) : depth;
}

#endif
