/* SPDX-License-Identifier: MIT
 *
 * malloc_bootstrap.h: memory for a loader that allocates while a thread asks it where malloc is.
 *
 * Zone: HOOK.
 */
#ifndef PP_KINDS_HEAP_MALLOC_BOOTSTRAP_H
#define PP_KINDS_HEAP_MALLOC_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns zeroed memory; its size is in front of it. NULL when the memory is used up. */
void *pp_malloc_bootstrap(size_t size, size_t alignment);
bool pp_malloc_is_bootstrap(uintptr_t address);
/* Whether there is such a block. */
bool pp_malloc_bootstrap_is_used(void);
void pp_malloc_bootstrap_memory(uintptr_t *from, uintptr_t *to);
size_t pp_malloc_bootstrap_size(uintptr_t address);

/* The hook of malloc_usable_size, which knows such a block. */
size_t pp_malloc_usable_size(void *block);
/* Finds the real malloc_usable_size; 0: there is none. To be called when malloc is resolved. */
uintptr_t pp_malloc_bootstrap_resolve(void);

#endif
