/* SPDX-License-Identifier: MIT
 *
 * malloc_mappings.h: the hooks of mmap, munmap and mremap.
 *
 * Zone: HOOK.
 */
#ifndef PP_KINDS_HEAP_MALLOC_MAPPINGS_H
#define PP_KINDS_HEAP_MALLOC_MAPPINGS_H

/* Finds the real functions. Until then, the hooks call the kernel directly. */
void pp_malloc_mappings_resolve(void);

#endif
