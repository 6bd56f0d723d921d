/* SPDX-License-Identifier: MIT
 *
 * alloctrace.h: every allocation and every free on the log, each with its stack
 * [runtime/mprof.go: tracealloc, tracefree, tracegc].
 *
 *   tracealloc(0x55d0c15b02a0, 0x40, malloc)
 *   thread 4711 "worker" [running]:
 *           0x55d0c0a4f1b3 read_line+0x23 /usr/bin/program+0x11b3
 *           0x55d0c0a4f0c4 main+0x44 /usr/bin/program+0x10c4
 *
 *   tracefree(0x55d0c15b02a0, 0x48)
 *   ...
 *
 * Frames are return addresses, leaf-most first; names and offsets are those of the call. The size
 * of an allocation is what was asked for, that of a free what the allocator set aside, or, of a
 * heap that the program describes itself, what was asked for. Where nobody knows it, "unknown" is
 * in its place: allocators whose blocks cannot be measured, described objects from before the
 * trace. A block that is resized is freed and allocated, in that order; if the allocator refuses,
 * the old one is allocated once more.
 *
 * Zone: HOOK. Blocks signals while it writes, so that a handler that allocates waits for nobody on
 * its own thread.
 * Locks: one, which is waited for. Nothing is taken while it is held. A holder that died (a child
 * of fork inherits the lock, but not the thread) is recognised, and the lock taken from it.
 * Owns: the text of one event; the names that were looked up.
 */
#ifndef PP_KINDS_HEAP_ALLOCTRACE_H
#define PP_KINDS_HEAP_ALLOCTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is known of an address of code. Texts stay for ever. */
typedef struct pp_trace_place {
    uintptr_t address;
    const char *function; /* NULL = unknown */
    uintptr_t offset;     /* from its entry */
    const char *module;   /* NULL = unknown */
    uintptr_t module_offset;
} pp_trace_place;

/*
 * Fills in what `count` places with an address are; their texts need to live until the next call.
 * Called with the lock held: it must neither allocate from the host's heap nor wait for anybody.
 */
typedef void pp_trace_namer(pp_trace_place *places, size_t count);

extern bool pp_alloctrace_on; /* read through the next one */
static inline bool pp_alloctrace_is_on(void)
{
    return __atomic_load_n(&pp_alloctrace_on, __ATOMIC_RELAXED);
}

/* From now on every call is traced. namer may be NULL. */
void pp_alloctrace_start(pp_trace_namer *namer);

#define PP_TRACE_SIZE_UNKNOWN UINT64_MAX

/*
 * One event each. The size may be PP_TRACE_SIZE_UNKNOWN. `return_address` is the place in the
 * program from which the allocator was called, where the stack begins. Preserve errno. A collection
 * shows all threads (NORMAL).
 */
void pp_alloctrace_allocation(uintptr_t block, uint64_t size, const char *function,
                              uintptr_t return_address);
void pp_alloctrace_free(uintptr_t block, uint64_t size, uintptr_t return_address);
void pp_alloctrace_collection(uintptr_t return_address);

/* No more events, but for those that have begun. True if there were any. */
bool pp_alloctrace_stop(void);

/* In the child of fork: `traced` or not from here on. */
void pp_alloctrace_after_fork_in_child(bool traced);

#endif
