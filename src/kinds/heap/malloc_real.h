/* SPDX-License-Identifier: MIT
 *
 * malloc_real.h: finds the real function of a hook, for the slow path. malloc_real.c defines these
 * functions; malloc_static.c does in a fully static program.
 *
 * Zone: HOOK.
 */
#ifndef PP_KINDS_HEAP_MALLOC_REAL_H
#define PP_KINDS_HEAP_MALLOC_REAL_H

#include "host/call_slots.h"
#include "kinds/heap/malloc_hook.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Resolves the hook, unless it is resolved; `caller` is an address in the code that called the
 * hook. False if there is no such function, or while the calling thread is resolving a hook (the
 * loader allocates).
 */
bool pp_malloc_resolve(pp_malloc_hook *hook, uintptr_t caller);

/* As pp_kind_hooks.list_called (host/kind.h). */
size_t pp_malloc_list_called(pp_called_hook *list, size_t capacity);

/* Whether libc has not initialised itself yet: no thread can walk a stack then. */
bool pp_malloc_is_too_early(void);

#endif
