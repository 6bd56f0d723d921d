/* SPDX-License-Identifier: MIT
 *
 * handler_depth.h: how much of a stack the handler of samples writes to.
 *
 * The stack below a thread's SP is painted, a signal of the profiler's timer strikes, and the
 * lowest word that is not paint any more shows how deep the handler went:
 *
 *   paint paint paint [ handler ][ kernel's frame ] SP ... top
 *                     |  bytes  ||  kernel_bytes  |
 *
 * Words that a function reserves and never writes are not counted: no page is needed for them.
 */
#ifndef BENCH_HANDLER_DEPTH_H
#define BENCH_HANDLER_DEPTH_H

#include <stddef.h>

enum { HANDLER_DEPTHS = 10 };

typedef struct handler_depth {
    const char *name; /* what the handler met */
    size_t bytes;
    size_t kernel_bytes; /* signal frame and red zone, as the kernel lays them out here */
} handler_depth;

/*
 * Starts a CPU profile, measures each case in a thread of its own, and stops the profile. Returns
 * how many were measured, at most HANDLER_DEPTHS; 0 if no profile could be started.
 */
size_t handler_depth_measure(handler_depth depths[HANDLER_DEPTHS]);

#endif
