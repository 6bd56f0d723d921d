/* SPDX-License-Identifier: MIT
 *
 * own_frames.h: libpprof's own frames are in no stack.
 *
 * A stack that begins at a hook's caller has none by itself. But a hook calls the real function, and what that does may
 * come to another hook, or be sampled: the hook's frames lie between.
 *
 *   malloc <- fopen (libc) <- pp_descriptor_slow <- fopen (ours) <- main
 *   malloc <- fopen (libc) <------------------------------------------ main          as if there were no hook
 *
 * So a call by way of the hook's slow path (the first one of all, before the real function is known) has the stack that
 * later calls have. A sample that landed in our own code is shown in the function that the program called:
 *
 *   pp_wait_begin <- pp_wait_slow <- pthread_mutex_lock (ours) <- main
 *                                    pthread_mutex_lock        <- main
 *
 * That is the outermost of our frames there: the entries of the hooks (arch/) have all that comes before C within
 * one symbol, and public functions of C are compiled without tail calls. Exceptions are in tables (base/shown_as.h).
 *
 * Zone: SIGNAL.
 * Locks: none.
 * Owns: nothing.
 */
#ifndef PP_UNWIND_OWN_FRAMES_H
#define PP_UNWIND_OWN_FRAMES_H

#include "unwind/walk_space.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Leaves our frames out of *depth return-like addresses, and says whether there were any. is_interrupted: the first
 * one is where the thread was, not a caller's; `space` is needed for that.
 */
bool pp_own_frames_cut(uintptr_t *pcs, uint32_t *depth, bool is_interrupted, pp_walk_space *space);

#endif
