/* SPDX-License-Identifier: MIT
 *
 * heap_mappings.h: mappings that the program makes itself, beside those of its allocator.
 *
 *   mmap    --> countdown used up? --> pp_heap_mapped      stack: mmap <- caller
 *   munmap  --> pp_heap_unmapped                           what is left of a mapping stays in use
 *
 * They are sampled by the same rule and the same countdown as blocks: a mapping of s bytes with the
 * probability 1 - e^(-s/rate), which is 1 for all that matter. Those of files have the pseudo-frame
 * pprof_file_mapping in front of mmap: their pages belong to the page cache.
 *
 * Zone: HOOK.
 * Locks: one. Nothing else is taken while it is held.
 */
#ifndef PP_KINDS_HEAP_HEAP_MAPPINGS_H
#define PP_KINDS_HEAP_HEAP_MAPPINGS_H

#include "kinds/heap/heap.h"
#include "sys/signal_mask.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The lock under which mappings are changed, together with the system call. False if the calling
 * thread has it already: then the call comes from inside of another. Signals are blocked meanwhile,
 * errno is kept by both.
 */
bool pp_heap_mappings_enter(pp_signal_mask *old);
void pp_heap_mappings_leave(const pp_signal_mask *old);

/* Whether any is known, so that there is something to unmap. Needs no lock. */
bool pp_heap_mappings_any(void);

/* These addresses are mapped no more, or anew. The caller holds the lock. */
void pp_heap_unmapped(uintptr_t start, uint64_t size);

void pp_heap_mappings_after_fork_in_child(void);

/* Records a mapping that pp_heap_due() has chosen. The caller holds the lock. Preserves errno. */
void pp_heap_mapped(uintptr_t start, uint64_t size, bool of_file, uint64_t rate,
                    const pp_caller *caller);

/* The function whose name tells mappings of files from memory; never called. */
void pprof_file_mapping(void);

#endif
