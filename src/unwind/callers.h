/* SPDX-License-Identifier: MIT
 *
 * callers.h: the stack of whoever of us asks, our own frames included.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_UNWIND_CALLERS_H
#define PP_UNWIND_CALLERS_H

#include <stddef.h>
#include <stdint.h>

/* As pprof_callers(), which leaves libpprof's frames out (unwind/own_frames.h). */
size_t pp_callers_uncut(int skip, uintptr_t *pcs, size_t capacity)
    __attribute__((visibility("hidden")));

#endif
