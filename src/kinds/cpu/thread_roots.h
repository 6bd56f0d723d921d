/* SPDX-License-Identifier: MIT
 *
 * thread_roots.h: finds the root of a thread: its start routine, and the functions of libc that
 * called it.
 *
 * CPU time that is settled from a thread's clock has no stack; the profile shows it on the thread's
 * root. A process has few ways of calling start routines (pthread_create, thrd_create, main). So a
 * thread's slot keeps the start routine, and a number for the functions that called it.
 *
 * Zone: SIGNAL.
 * Locks: none; callers of pp_thread_callers_keep() hold the lock of cpu_threads.c.
 * Owns: the list of callers.
 */
#ifndef PP_KINDS_CPU_THREAD_ROOTS_H
#define PP_KINDS_CPU_THREAD_ROOTS_H

#include "unwind/caller.h"

#include <stdint.h>

enum { PP_ROOT_DEPTH = 4 };

/* The addresses are return-like, leaf-most first. */
typedef struct pp_root_frames {
    uintptr_t pcs[PP_ROOT_DEPTH];
    uint32_t depth; /* 0 = not known */
} pp_root_frames;

/* Returns the root of the calling thread, which is about to call `entry`. */
pp_root_frames pp_thread_root_of(uintptr_t entry, const pp_caller *caller);

/* Returns the outermost frames of the calling thread, for a thread that no hook saw begin. The
 * caller has blocked signals. */
pp_root_frames pp_thread_root_here(void);

/* Returns a number for all frames except the first; 0 if there are none, or too many different
 * ones. */
uint8_t pp_thread_callers_keep(const pp_root_frames *root);

/* Returns the root whose first frame is `first` (0 = not known) and whose callers have `number`. */
pp_root_frames pp_thread_root_read(uintptr_t first, uint8_t number);

#endif
