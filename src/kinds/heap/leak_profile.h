/* SPDX-License-Identifier: MIT
 *
 * leak_profile.h: the profile "leak": sampled blocks to which nothing refers, by the stacks that
 * allocated them, as estimates of all such blocks.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#ifndef PP_KINDS_HEAP_LEAK_PROFILE_H
#define PP_KINDS_HEAP_LEAK_PROFILE_H

#include "pprof.h"

#include <stddef.h>

/* Searches, and writes a profile.proto. 0, -ENOTSUP for another `debug` than 0, an error of
 * pp_leaks_find(), or the writer's first error. */
int pp_leak_profile_write(pprof_writer writer, int debug);

/* The number of samples that the last profile had. */
size_t pp_leak_profile_count(void);

#endif
