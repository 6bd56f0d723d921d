/* SPDX-License-Identifier: MIT
 *
 * malloc.h: the allocation hooks, as the rest of the library sees them.
 *
 * Zone: HOOK.
 */
#ifndef PP_KINDS_HEAP_MALLOC_H
#define PP_KINDS_HEAP_MALLOC_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Defined above this room (src/kinds/heap/heap_early.c), because it is decided there: the rate to begin with.
 * False if that cannot be told yet; then it is asked again. Called inside the program's malloc,
 * maybe before the constructors of libc and of this library. Zone: HOOK.
 */
bool pp_malloc_first_rate(int64_t *rate);

#endif
