/* SPDX-License-Identifier: MIT
 *
 * thread_roots.h: where threads begin: the start routine, and the functions of libc that called it.
 *
 * CPU time that is settled from a thread's clock has no stack; it is counted there. A process has
 * few ways of calling start routines (pthread_create, thrd_create, main), so that a thread's slot
 * keeps a number in the place of them.
 *
 * Zone: SIGNAL.
 * Locks: none; pp_thread_callers_keep() is called under the lock of cpu_threads.c.
 * Owns: the list of callers.
 */
#ifndef PP_KINDS_CPU_THREAD_ROOTS_H
#define PP_KINDS_CPU_THREAD_ROOTS_H

#include "unwind/caller.h"

#include <stdint.h>

enum { PP_ROOT_DEPTH = 4 };

/* Return-like, leaf-most first. */
typedef struct pp_root_frames {
    uintptr_t pcs[PP_ROOT_DEPTH];
    uint32_t depth; /* 0 = not known */
} pp_root_frames;

/* Of the calling thread, which is about to call `entry`. */
pp_root_frames pp_thread_root_of(uintptr_t entry, const pp_caller *caller);

/* Of the calling thread, which was there before us: the outermost frames of where it is. With
 * signals blocked. */
pp_root_frames pp_thread_root_here(void);

/* A number for all but the first frame; 0 if there are none, or too many kinds of them. */
uint8_t pp_thread_callers_keep(const pp_root_frames *root);

/* The root of which `first` is the first frame, 0 = not known, and `number` that of its callers. */
pp_root_frames pp_thread_root_read(uintptr_t first, uint8_t number);

#endif
