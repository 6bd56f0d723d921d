/* SPDX-License-Identifier: MIT
 *
 * malloc_mappings.h: the hooks of mmap, as the rest of the library sees them.
 *
 * Zone: HOOK.
 */
#ifndef PP_KINDS_HEAP_MALLOC_MAPPINGS_H
#define PP_KINDS_HEAP_MALLOC_MAPPINGS_H

/* Finds the real functions; before that the kernel is called directly. */
void pp_malloc_mappings_resolve(void);

#endif
