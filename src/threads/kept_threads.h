/* SPDX-License-Identifier: MIT
 *
 * kept_threads.h: keeps, from one snapshot of the threads to the next, where each thread waits.
 *
 * A thread whose CPU clock reads as it did at the last walk has not run since: it waits in the same
 * call, with the same stack. So the clock is read again, and nothing else. A snapshot takes the
 * whole memory out and gives it back at its end; another snapshot meanwhile finds none, and begins
 * one of its own.
 *
 *   waits   tid -> [record's serial | clock | place | stack]      by tid
 *   stacks  hash -> [depth | addresses ...]                       every stack once
 *   list    the ids of the threads, as the kernel listed them last
 *
 * What is kept does not serve
 * - another thread that has got the same id: the record's serial is another one, and its clock
 *   began at 0. A thread without a record (a bare clone) is not kept, except the first one.
 * - after a load or unload: a walk could give another stack (loader.h).
 * - where the clock is not fine: a thread could run without moving it. The caller's own clock has
 *   to move between any two readings, which take less than the shortest way from one wait to
 *   another.
 * - for longer than a minute. The stack of a thread that waits belongs to this thread alone; a
 *   debugger or a runtime may still change a return address in it.
 * A thread that has not run has not changed its labels either: a wait keeps a reference to them. Names
 * and states that /proc alone knows can change while a thread waits; they are not kept.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Locks: none; who has taken the memory owns it.
 * Owns: one memory, of at most some 16 MiB. Threads that are gone leave it at the next snapshot.
 */
#ifndef PP_THREADS_KEPT_THREADS_H
#define PP_THREADS_KEPT_THREADS_H

#include "base/arena.h"
#include "store/labels.h"
#include "sys/task_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_kept_threads pp_kept_threads;

/* A thread at a moment; equal sights of a thread that waits are of the same wait. */
typedef struct pp_sight {
    int tid;
    uint64_t serial; /* of its record (thread_table.h); 0 = none */
    int64_t clock_ns;
} pp_sight;

/* A wait that is kept. */
typedef struct pp_kept_wait {
    pp_sight sight;
    uint64_t walked_ns; /* CLOCK_MONOTONIC */
    uint64_t round;     /* the last one that saw it */
    pp_task_place place;
    struct pp_kept_stack *stack;
    pprof_labels *labels; /* a reference; NULL = none */
} pp_kept_wait;

/* The memory, for one snapshot. NULL: nothing can be kept now. The functions below accept NULL, and
 * find nothing. */
pp_kept_threads *pp_kept_take(void);
void pp_kept_give_back(pp_kept_threads *kept);

/* NULL if the thread has run since, or is not known. */
pp_kept_wait *pp_kept_find(pp_kept_threads *kept, const pp_sight *sight);

/* Keeps a wait with its labels; the stack is whole. NULL if that is not possible. */
pp_kept_wait *pp_kept_add(pp_kept_threads *kept, const pp_sight *sight, const pp_task_place *place,
                          const uintptr_t *pcs, uint32_t depth, pprof_labels *labels);

/* The wait's stack in the arena of the snapshot, where each stack lies once. NULL: no memory. */
const uintptr_t *pp_kept_stack_in(pp_kept_threads *kept, const pp_kept_wait *wait, pp_arena *arena,
                                  uint32_t *depth);

/* The threads that the kernel listed last. */
const int *pp_kept_list(const pp_kept_threads *kept, size_t *count);
void pp_kept_set_list(pp_kept_threads *kept, const int *tids, size_t count);

/* In the child of fork: there is none. */
void pp_kept_after_fork_in_child(void);

#endif
