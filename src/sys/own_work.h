/* SPDX-License-Identifier: MIT
 *
 * own_work.h: marks work that the calling thread does for the library through hooked calls.
 *
 * Other people's code that the library calls (the loader, libdw) allocates, locks and maps. The
 * hooks must not record this as the program's work.
 *
 *   pp_own_work_begin() ... libdw -> malloc -> hook: pp_own_work_has() -> real function, no record
 *   pp_own_work_end()
 *
 * A thread of the library's own marks all that it ever does, by pp_own_work_for_ever().
 *
 * The mark is the stack address where the work began. A handler of the program that jumps out of
 * the work leaves the mark set; the next hook that is called from further up clears it.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_SYS_OWN_WORK_H
#define PP_SYS_OWN_WORK_H

#include "arch/registers.h"
#include "base/compiler.h"
#include "sys/own_threads.h"

#include <stdbool.h>
#include <stdint.h>

#define PP_OWN_THREAD UINTPTR_MAX /* above every frame */

static inline void pp_own_work_mark(uintptr_t sp)
{
    if (pp_thread_marks.own_work_sp != PP_OWN_THREAD) {
        pp_thread_marks.own_work_sp = sp;
    }
}

/* From begin to end, calls from frames below the caller's are the library's own work. Not
 * nestable. */
#define pp_own_work_begin() pp_own_work_mark(PP_FRAME_TOP())
#define pp_own_work_end()   pp_own_work_mark(0)

static inline void pp_own_work_for_ever(void)
{
    pp_thread_marks.own_work_sp = PP_OWN_THREAD;
}

/* Whether a call is the library's own work; `sp` is any stack address of the call's frame. */
static inline bool pp_own_work_has(uintptr_t sp)
{
    if (pp_likely(pp_thread_marks.own_work_sp == 0)) {
        return false;
    }
    if (sp >= pp_thread_marks.own_work_sp) {
        pp_thread_marks.own_work_sp = 0; /* a jump left the work */
    }
    return pp_thread_marks.own_work_sp != 0;
}

/* Begins where the call may be inside such work already; true if it is not, and has to be ended.
 * `sp` is that of pp_own_work_begin(). */
static inline bool pp_own_work_join(uintptr_t sp)
{
    bool begins = !pp_own_work_has(sp);
    if (begins) {
        pp_own_work_mark(sp);
    }
    return begins;
}

#endif
