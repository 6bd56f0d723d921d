/* SPDX-License-Identifier: MIT
 *
 * heap_cycles.h: heaps that the program describes itself: custom allocators and collectors.
 *
 * A collector frees late: it sweeps in one cycle the objects that died in the cycle before. A
 * profile that counted events at once would always show too many of the latest allocations. So
 * events are counted in cycles, and a cycle is published when all of its frees are known
 * [runtime/mprof.go, memRecord]:
 *
 *                mark end             mark end             mark end
 *   allocations .....|....................|....................|
 *                    |                    |
 *   at cycle C:      allocated, freed by hand -> C+2      (published at the second mark end)
 *                    freed by the sweep       -> C+1      (published at the next one, or by
 *                                                          post_sweep as soon as the sweep is over)
 *
 * Publishing cycle C adds its counts to the bucket's own. Three cycles exist at a time, as a ring.
 *
 * As long as the program has never ended a cycle, each reader publishes all three: a plain
 * allocator only needs to call alloc and free. A reader does the same as long as nothing has been
 * published, even if cycles have ended: otherwise it would find nothing.
 *
 * A thread may be stopped before it counts, and go on after cycles have ended. Its count then goes
 * to a later cycle and is published with that; it is never lost, and nobody waits for it.
 *
 * Zone: HOOK. This file defines the public functions pprof_heap_*; a collector may call them while
 *       it has stopped the world.
 * Locks: none. A reader repeats while another thread publishes.
 * Owns: the number of the cycle; the program's collector.
 */
#ifndef PP_KINDS_HEAP_HEAP_CYCLES_H
#define PP_KINDS_HEAP_HEAP_CYCLES_H

#include <stdbool.h>
#include <stdint.h>

/* The number of the cycle wraps at this value: a multiple of the ring's length, which 2^32 is
 * not. */
#define PP_HEAP_CYCLE_WRAP (3u << 16)

/* Returns the number of the current cycle, below PP_HEAP_CYCLE_WRAP. */
uint32_t pp_heap_cycle_current(void);

/* Moves the counts that may be shown to the buckets' own. Readers of buckets call it first. */
void pp_heap_cycles_publish_for_reader(void);

/*
 * A reader of several buckets sees all of them before a cycle was published, or all after:
 *
 *     pp_heap_cycles_ticket ticket = {0};
 *     do {
 *         pp_heap_cycles_read_begin(&ticket);
 *         ... read ...
 *     } while (pp_heap_cycles_read_again(&ticket));
 *
 * pp_heap_cycles_read_again() gives up after many attempts.
 */
typedef struct pp_heap_cycles_ticket {
    uint64_t published;
    uint32_t attempts;
} pp_heap_cycles_ticket;

void pp_heap_cycles_read_begin(pp_heap_cycles_ticket *ticket);
bool pp_heap_cycles_read_again(pp_heap_cycles_ticket *ticket);

/* Facts about the program's collector. */
typedef struct pp_heap_collector {
    bool exists;          /* the program has called pprof_set_collector(), or has ended a cycle */
    uint64_t collections; /* ended cycles, and runs by pp_heap_collect() that have ended none */
    uint64_t collections_forced; /* runs by pp_heap_collect() */
    uint64_t last_end_ns;        /* wall clock; 0 = none */
} pp_heap_collector;

void pp_heap_collector_read(pp_heap_collector *read);

/* Sets the program's collector; NULL: none. Returns the previous one. */
void (*pp_heap_collector_set(void (*collect)(void)))(void);

/*
 * Runs the program's collector on the calling thread, which must hold no lock of ours. False if the
 * program has set none, or if the collector itself is the caller. To be called before anything
 * shows the heap as it is now: before a profile is written, at the end of the process, and for `gc`
 * of a request. Not to be called in a signal handler, where the program may hold any lock.
 * Preserves errno. Zone: NORMAL.
 */
bool pp_heap_collect(void);

void pp_heap_cycles_after_fork_in_child(void);

#endif
