/* SPDX-License-Identifier: MIT
 *
 * heap_cycles.h: heaps that the program describes itself: custom allocators and collectors.
 *
 * A collector frees late: what died in one cycle is swept in the next. Counted as it comes, a
 * profile would always show too much of what was allocated last. So events are counted in cycles
 * that are published when all of their frees are known [runtime/mprof.go, memRecord]:
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
 * While nobody has ever ended a cycle, all three are published whenever somebody reads: a plain
 * allocator needs to call nothing but alloc and free. So they are as long as nothing has been
 * published at all, be it that cycles were ended: a reader would find nothing else.
 *
 * A count may be made by a thread that was stopped in between, after cycles have gone by. It then
 * goes to a later cycle and is published with that; it is never lost, and nobody waits for it.
 *
 * Zone: HOOK. The public functions (pprof_heap_*) are defined here; a collector may call them while
 * it has stopped the world.
 * Locks: none. A reader repeats while somebody publishes.
 * Owns: the number of the cycle; the program's collector.
 */
#ifndef PP_KINDS_HEAP_HEAP_CYCLES_H
#define PP_KINDS_HEAP_HEAP_CYCLES_H

#include <stdbool.h>
#include <stdint.h>

/* The number of the cycle wraps here: a multiple of the ring's length, which 2^32 is not. */
#define PP_HEAP_CYCLE_WRAP (3u << 16)

/* Number of the current cycle, below PP_HEAP_CYCLE_WRAP. */
uint32_t pp_heap_cycle_current(void);

/* Brings what may be shown into the buckets' own counts. To be called by whoever reads them. */
void pp_heap_cycles_publish_for_reader(void);

/*
 * A reader of several buckets sees all of them before a cycle was published, or all after:
 *
 *     do {
 *         ticket = pp_heap_cycles_read_begin();
 *         ... read ...
 *     } while (pp_heap_cycles_read_again(ticket));
 *
 * Gives up after many attempts.
 */
typedef struct pp_heap_cycles_ticket {
    uint64_t published;
    uint32_t attempts;
} pp_heap_cycles_ticket;

void pp_heap_cycles_read_begin(pp_heap_cycles_ticket *ticket);
bool pp_heap_cycles_read_again(pp_heap_cycles_ticket *ticket);

/* What is known of the collector. */
typedef struct pp_heap_collector {
    bool exists;          /* pprof_set_collector(), or somebody ends cycles */
    uint64_t collections; /* cycles that were ended, and our runs of it that have ended none */
    uint64_t collections_forced; /* our runs of it */
    uint64_t last_end_ns;        /* wall clock; 0 = none */
} pp_heap_collector;

void pp_heap_collector_read(pp_heap_collector *read);

/* Returns the one before; NULL: none. */
void (*pp_heap_collector_set(void (*collect)(void)))(void);

/*
 * Runs the program's collector, if it has set one, on the calling thread, with no lock of ours
 * held. False if there is none, or if the call comes from the collector itself. Before whatever
 * shows the heap to somebody who wants it as it is now: a profile that is written, the end of the
 * process, and `gc` of a request. Not where the program may hold any lock or be anywhere: a
 * signal's handler. Preserves errno. Zone: NORMAL.
 */
bool pp_heap_collect(void);

void pp_heap_cycles_after_fork_in_child(void);

#endif
