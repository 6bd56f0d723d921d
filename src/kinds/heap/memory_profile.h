/* SPDX-License-Identifier: MIT
 *
 * memory_profile.h: the profile "memory": the resident memory of the process, by what holds it.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#ifndef PP_KINDS_HEAP_MEMORY_PROFILE_H
#define PP_KINDS_HEAP_MEMORY_PROFILE_H

#include "pprof.h"

#include <stddef.h>

/* Reads who holds the memory, and writes a profile.proto. `debug` other than 0: -ENOTSUP, there is no
 * text. 0, -ENOMEM, -errno if /proc cannot be read, or the writer's first error. */
int pp_memory_profile_write(pprof_writer writer, int debug);

/* The number of samples of the last one that was written; 0 before the first. */
size_t pp_memory_profile_count(void);

#endif
