/* SPDX-License-Identifier: MIT
 *
 * waiters.h: the waits that go on.
 *
 * A waiter is what is known of one wait. Waiters lie in a pool, not on the stacks of the threads
 * that wait: a signal handler may jump out of a wait, and whoever takes a profile must not be led
 * to a stack that is gone. A thread's waits form a chain, since a handler may wait in the middle of
 * a wait; one that was jumped out of is found, and forgotten, when its thread waits again further
 * up the same stack, or ends.
 *
 * Each thread whose end is known keeps the waiter that it used last.
 *
 * Zone: HOOK.
 * Locks: none. A waiter is written by its thread alone; readers look at its serial before and
 * after.
 * Owns: the pool (.bss); 24 bytes of TLS.
 */
#ifndef PP_KINDS_CONTENTION_WAITERS_H
#define PP_KINDS_CONTENTION_WAITERS_H

#include "kinds/contention/contended.h"
#include "store/labels.h"
#include "store/stack_counts.h"
#include "unwind/caller.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct pp_waiter {
    uint64_t serial; /* odd while it is shown; never the same twice */
    struct pp_waiter *outer;
    uintptr_t object;
    uint64_t since_ns;
    pp_place place;
    pp_caller caller;
    pprof_labels *labels;  /* its thread's: valid as long as it waits */
    pp_stack_entry *entry; /* of its stack; NULL = not known yet. Its own thread's affair. */
} pp_waiter;

/* How many waiters are listed for this hash. */
extern uint16_t pp_contention_listed[PP_CONTENTION_HASHES];

/* Takes a waiter for the calling thread; NULL if there is none left. It is not shown yet. */
pp_waiter *pp_waiter_new(uintptr_t object, const pp_caller *caller);

/* Other threads may see it: it waits since then. */
void pp_waiter_show(pp_waiter *waiter, uint64_t since_ns);
/* Other threads see it no more. It may have been hidden before. */
void pp_waiter_hide(pp_waiter *waiter);

/* The calling thread's innermost waiter; NULL = it does not wait. It may not be shown yet. */
pp_waiter *pp_waiters_innermost(void);

static inline bool pp_waiter_is_shown(const pp_waiter *waiter)
{
    return waiter->serial % 2 != 0;
}

/* The thread's innermost waiter is given back. */
void pp_waiter_free(pp_waiter *waiter);

/* Calls back with a copy of each waiter that is shown. */
typedef void pp_waiter_visit(const pp_waiter *copy, const pp_waiter *waiter, void *context);
void pp_waiters_each(pp_waiter_visit *visit, void *context);
/* How many may be shown. */
size_t pp_waiters_count(void);
/* Whether `waiter` was at the same wait as when it was copied until now: what the caller has read
 * meanwhile, of its thread's stack, is of that wait. */
bool pp_waiter_still_waits(const pp_waiter *waiter, const pp_waiter *copy);

void pp_waiters_thread_begin(void);
void pp_waiters_thread_end(void);
void pp_waiters_after_fork_in_child(void);

#endif
