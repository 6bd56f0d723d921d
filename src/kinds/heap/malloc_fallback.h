/* SPDX-License-Identifier: MIT
 *
 * malloc_fallback.h: stand-ins for functions that no loaded object defines.
 *
 * Zone: HOOK.
 */
#ifndef PP_KINDS_HEAP_MALLOC_FALLBACK_H
#define PP_KINDS_HEAP_MALLOC_FALLBACK_H

#include "kinds/heap/malloc_hook.h"

/* Returns the stand-in for the hook's real function; NULL if no function is like it. */
pp_malloc_function *pp_malloc_fallback(const pp_malloc_hook *hook);

#endif
