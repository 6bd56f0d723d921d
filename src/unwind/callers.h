/* SPDX-License-Identifier: MIT
 *
 * callers.h: the stack of a function of libpprof, with libpprof's own frames.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_UNWIND_CALLERS_H
#define PP_UNWIND_CALLERS_H

#include <stddef.h>
#include <stdint.h>

/* pprof_callers(), but with libpprof's frames left in (unwind/own_frames.h). */
size_t pp_callers_uncut(int skip, uintptr_t *pcs, size_t capacity)
    __attribute__((visibility("hidden")));

#endif
