/* SPDX-License-Identifier: MIT
 *
 * waiters.h: lists the waits that go on.
 *
 * A waiter is the record of one wait. Waiters are in a pool, not on the stacks of the threads that
 * wait: a signal handler may jump out of a wait, and no reader may follow a pointer to a stack that
 * is gone. The waits of a thread form a chain, since a handler may wait in the middle of a wait. A
 * thread forgets a wait that it has jumped out of when it waits again further up the same stack, when
 * the wait around it is over, or when the thread ends.
 *
 * A thread whose end libpprof sees keeps the waiter that it used last, for its next wait.
 *
 * Zone: HOOK.
 * Locks: none. Only its thread writes a waiter; readers read its serial before and after.
 * Owns: the pool (.bss); 24 bytes of TLS.
 */
#ifndef PP_KINDS_CONTENTION_WAITERS_H
#define PP_KINDS_CONTENTION_WAITERS_H

#include "base/bitmap.h"
#include "kinds/contention/contended.h"
#include "store/labels.h"
#include "store/stack_counts.h"
#include "unwind/caller.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct pp_waiter {
    uint64_t serial; /* odd while the waiter is shown; never the same twice */
    struct pp_waiter *outer;
    uintptr_t object;
    uint64_t since_ns;
    pp_place place;
    pp_caller caller;
    pprof_labels *labels;  /* of the thread: valid as long as it waits */
    pp_stack_entry *entry; /* of the thread's stack; NULL = not walked yet; readers ignore it */
} pp_waiter;

enum { PP_WAITER_WORDS = PP_CONTENDED_MAX / PP_BITMAP_WORD };

typedef struct pp_waiter_pool {
    /* The number of waiters that are shown for each hash; read by the entries. */
    uint16_t listed[PP_CONTENTION_HASHES];
    pp_waiter waiters[PP_CONTENDED_MAX];
    uint64_t taken[PP_WAITER_WORDS];
} pp_waiter_pool;

extern pp_waiter_pool pp_waiters;

/* Takes a waiter, not shown yet, for the calling thread; NULL if none is left. */
pp_waiter *pp_waiter_new(uintptr_t object, const pp_caller *caller);

/* Shows the waiter to other threads; it waits since `since_ns`. */
void pp_waiter_show(pp_waiter *waiter, uint64_t since_ns);
/* Hides the waiter from other threads. It may be hidden already. */
void pp_waiter_hide(pp_waiter *waiter);

/* Returns the calling thread's innermost waiter, which may not be shown yet; NULL = the thread does
 * not wait. */
pp_waiter *pp_waiters_innermost(void);

static inline bool pp_waiter_is_shown(const pp_waiter *waiter)
{
    return waiter->serial % 2 != 0;
}

/* Gives back a waiter of the calling thread, whose wait is over, and those further inside. */
void pp_waiter_free(pp_waiter *waiter);

/* Calls `visit` with a copy of each waiter that is shown. */
typedef void pp_waiter_visit(const pp_waiter *copy, const pp_waiter *waiter, void *context);
void pp_waiters_each(pp_waiter_visit *visit, void *context);
/* Whether a waiter may be shown for the object, or for another one with its hash. To be asked after the
 * object's word has said that a thread waits: what that thread stored before is seen from then on. */
bool pp_waiters_any(uintptr_t object);
/* Returns the greatest number of waiters that are shown now. */
size_t pp_waiters_count(void);
/* Whether `waiter` is still in the wait of which `copy` is. If so, all that the caller has read of
 * the thread's stack since the copy belongs to that wait. */
bool pp_waiter_still_waits(const pp_waiter *waiter, const pp_waiter *copy);

/* The calling thread begins, and will call pp_waiters_thread_end() when it ends. */
void pp_waiters_thread_begin(void);
void pp_waiters_thread_end(void);
/* Is called in the child of fork, where no thread waits. */
void pp_waiters_after_fork_in_child(void);

#endif
