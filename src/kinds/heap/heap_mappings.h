/* SPDX-License-Identifier: MIT
 *
 * heap_mappings.h: samples of the mappings that the program makes itself, not its allocator.
 *
 *   mmap    --> countdown used up? --> pp_heap_mapped      stack: mmap <- caller
 *   munmap  --> pp_heap_unmapped                           the rest of a mapping stays in use
 *
 * Mappings and blocks share one countdown and one rule: a mapping of s bytes is a sample with the
 * probability 1 - e^(-s/rate), which is nearly 1 for large mappings. Mappings of files have the
 * pseudo-frame pprof_file_mapping in front of mmap: their pages belong to the page cache.
 *
 * Zone: HOOK.
 * Locks: one. Its holder takes no other lock.
 */
#ifndef PP_KINDS_HEAP_HEAP_MAPPINGS_H
#define PP_KINDS_HEAP_HEAP_MAPPINGS_H

#include "kinds/heap/heap.h"
#include "sys/signal_mask.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Takes and releases the lock that covers a change of the ranges together with its system call.
 * False if the calling thread holds the lock: then the call comes from inside another one. Signals
 * are blocked between the two calls. Both preserve errno.
 */
bool pp_heap_mappings_enter(pp_signal_mask *old);
void pp_heap_mappings_leave(const pp_signal_mask *old);

/* Whether any sampled mapping exists. Needs no lock. */
bool pp_heap_mappings_any(void);

/* Ends the sampled mappings at these addresses, which were unmapped or mapped anew. The caller
 * holds the lock. */
void pp_heap_unmapped(uintptr_t start, uint64_t size);

void pp_heap_mappings_after_fork_in_child(void);

/* Records a mapping that pp_heap_due() has chosen. The caller holds the lock. Preserves errno. */
void pp_heap_mapped(uintptr_t start, uint64_t size, bool of_file, uint64_t rate,
                    const pp_caller *caller);

/* The pseudo-frame of mappings of files. Nobody calls it. */
void pprof_file_mapping(void);

#endif
