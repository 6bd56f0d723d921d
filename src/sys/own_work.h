/* SPDX-License-Identifier: MIT
 *
 * own_work.h: what the calling thread does for the library and not for the program, though it goes
 * through calls that are hooked: other people's code that we call (the loader, libdw) allocates,
 * locks and maps.
 *
 *   pp_own_work_begin() ... libdw -> malloc -> hook: pp_own_work_has() -> real function, nothing is recorded
 *   pp_own_work_end()
 *
 * The mark says where on the stack the work began. A handler of the program that jumps out of it
 * leaves it behind; the next hook that is called from further up takes it away.
 *
 * Zone: SIGNAL.
 * Owns: the mark (8 bytes of TLS).
 */
#ifndef PP_SYS_OWN_WORK_H
#define PP_SYS_OWN_WORK_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stdint.h>

extern PP_TLS uintptr_t pp_own_work_sp;

/* What is called from now on by functions below the caller's frame is ours. They do not nest. */
#define pp_own_work_begin() (pp_own_work_sp = (uintptr_t)__builtin_frame_address(0))
#define pp_own_work_end()   (pp_own_work_sp = 0)

/* Whether a call is, whose frame, or whatever else of it, is at `sp`. */
static inline bool pp_own_work_has(uintptr_t sp)
{
    if (pp_likely(pp_own_work_sp == 0)) {
        return false;
    }
    if (sp >= pp_own_work_sp) {
        pp_own_work_sp = 0; /* it was left by a jump */
    }
    return pp_own_work_sp != 0;
}

#endif
