/* SPDX-License-Identifier: MIT
 *
 * walk_other.h: the stack of another thread, as it lies in memory.
 *
 * The thread waits in the kernel; of its registers only PC and SP are known. Its stack is copied,
 * most of it at once, and walked in the copy, so that nothing happens if the thread goes and its
 * stack is unmapped. Whether the thread has stood still meanwhile, is for the caller to find out,
 * afterwards.
 *
 * Zone: SIGNAL: takes no lock, allocates nothing, never faults.
 */
#ifndef PP_UNWIND_WALK_OTHER_H
#define PP_UNWIND_WALK_OTHER_H

#include "unwind/frame_pointer.h"
#include "unwind/walk.h"
#include "unwind/walk_space.h"

#include <stdint.h>

enum { PP_OTHER_IMAGE_BYTES = 4096 };

/* Begins as zeros; may be used for many walks, until a module goes. */
typedef struct pp_other_space {
    pp_walk_space space;
    pp_fp_search search;
    uint8_t image[PP_OTHER_IMAGE_BYTES] __attribute__((aligned(16)));
} pp_other_space;

/* Of `walk` pcs and capacity are looked at. */
void pp_walk_other(uintptr_t pc, uintptr_t sp, pp_other_space *space, pp_walk *walk);

#endif
