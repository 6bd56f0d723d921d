/* SPDX-License-Identifier: MIT
 *
 * alloctrace.h: writes every allocation and every free to the log, each with its stack
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
 * Frames are return addresses, the leaf first; names and offsets are those of the call. The size of
 * an allocation is the size that the program requested. The size of a free is the size of the block
 * in the allocator, or, in a heap that the program describes, the size that was requested. The text
 * is "unknown" if nobody knows the size: some allocators cannot measure their blocks, and a
 * described object may be older than the trace. A resized block is freed and allocated, in that
 * order; if the allocator refuses, the old block is allocated once more.
 *
 * Zone: HOOK. Signals are blocked while a thread writes an event, so that a handler that allocates
 *       never waits for its own thread.
 * Locks: one, which threads wait for. Its holder takes no other lock. If the holder is dead (a
 * child
 *        of fork inherits the lock, not the thread), a waiting thread takes the lock from it.
 * Owns: the text of one event; the names of addresses.
 */
#ifndef PP_KINDS_HEAP_ALLOCTRACE_H
#define PP_KINDS_HEAP_ALLOCTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An address of code, with its names. Texts stay for ever. */
typedef struct pp_trace_place {
    uintptr_t address;
    const char *function; /* NULL = unknown */
    uintptr_t offset;     /* from the function's entry */
    const char *module;   /* NULL = unknown */
    uintptr_t module_offset;
} pp_trace_place;

/*
 * A namer fills in the names of `count` places, whose addresses are set; the texts live at least
 * until its next call. The caller holds the lock: a namer must neither allocate from the host's
 * heap nor wait for any thread.
 */
typedef void pp_trace_namer(pp_trace_place *places, size_t count);

/* Traces every call from now on. `namer` may be NULL: then frames have no names. */
void pp_alloctrace_start(pp_trace_namer *namer);
bool pp_alloctrace_is_on(void);

#define PP_TRACE_SIZE_UNKNOWN UINT64_MAX

/*
 * Each of these functions writes one event, and preserves errno. The size may be
 * PP_TRACE_SIZE_UNKNOWN. `return_address` is the place in the program that called the allocator;
 * the stack begins there. A collection shows all threads (zone: NORMAL).
 */
void pp_alloctrace_allocation(uintptr_t block, uint64_t size, const char *function,
                              uintptr_t return_address);
void pp_alloctrace_free(uintptr_t block, uint64_t size, uintptr_t return_address);
void pp_alloctrace_collection(uintptr_t return_address);

/* Ends the trace; events that have begun are still written. True if the trace was on. */
bool pp_alloctrace_stop(void);

/* In the child of fork. `traced`: the trace goes on in the child. */
void pp_alloctrace_after_fork_in_child(bool traced);

#endif
