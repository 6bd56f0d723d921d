/* SPDX-License-Identifier: MIT
 *
 * contended.h: the objects that threads wait for, and the holders that are charged for these waits.
 *
 * An object has a record as long as a thread waits for it. The record has the number of waiters and
 * the sum of the times since which they wait. So a release costs the same for one waiter and for a
 * thousand:
 *
 *   since_sum   += now for each waiter that joins, -= its own time for each that leaves
 *   release      is charged waiters * now - since_sum; from then on every waiter waits since now
 *
 * The last release before a wait ends is charged for the rest of that wait, the time of waking up.
 * This release has ended the wait, and the wait counts as a contention of it. A waiter that wakes
 * up may find the lock taken again: the earlier releases are charged, and the wait does not count
 * for them. A holder's stack is not known yet when it releases, so the holder and the record share
 * a `charge`, to which waiters add. The last of them to drop the charge writes the sums to the
 * holder's stack.
 *
 * Zone: HOOK. Nothing allocates.
 * Locks: one for each list of records, which names its owner. A signal handler that interrupted its
 *        own thread while that owned a list goes on without the list. All threads do so after an
 *        owner has not come back for a second (a handler jumped away, or the thread was stopped).
 *        If the owner comes back later, it empties the list. So does a thread that jumped away, the
 *        next time that it enters the list.
 * Owns: lists, records, charges (.bss); 8 bytes of TLS.
 */
#ifndef PP_KINDS_CONTENTION_CONTENDED_H
#define PP_KINDS_CONTENTION_CONTENDED_H

#include "kinds/contention/wait_list.h"
#include "store/label_cells.h"
#include "store/stack_counts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PP_CONTENDED_MAX = 8192 /* objects at one time, and as many waits */
};

/* The unit of counts is a part of an event, since a short wait counts for rate / wait events. */
enum { PP_CONTENTION_EVENT = 1 << 20 };

static inline size_t pp_contention_hash(uintptr_t object)
{
    return (object >> PP_CONTENTION_LOW_SHIFT ^ object >> PP_CONTENTION_HIGH_SHIFT) &
           (PP_CONTENTION_HASHES - 1);
}

typedef struct pp_contended pp_contended;
typedef struct pp_charge pp_charge;

/* A waiter's place in a record. */
typedef struct pp_place {
    pp_contended *at; /* NULL = none */
    uintptr_t object;
    uint64_t serial, releases; /* of the record, when it was joined */
    uint64_t since_ns;
} pp_place;

/* Records that the caller waits for `object` from now on. False if the list or a record cannot be
 * had: then no holder is charged. */
bool pp_contended_join(uintptr_t object, pp_place *place);

/*
 * Records that the caller waits no more. Returns the time of that (CLOCK_MONOTONIC, ns). Adds what
 * the caller has waited since the last release to that holder's charge, or, if there was no
 * release, stores it in *unseen_ns. `got_it`: the caller has what it waited for, so the last
 * release has ended a wait; false: the caller gave up. The place may be one that was never joined.
 */
uint64_t pp_contended_leave(pp_place *place, bool got_it, uint64_t *unseen_ns);

/*
 * Is called before a release of `object`. True if a thread waits: then *waited_ns is the time that
 * all waiters have waited since the last release. `scale`: the number of releases that this one
 * counts for; 0 = it was not chosen, and is not charged. *charge is NULL then, and if no charge is
 * left.
 */
bool pp_contended_release(uintptr_t object, uint64_t scale, uint64_t *waited_ns,
                          pp_charge **charge);

/* The values of a cell whose owner is an entry: parts of the entry's count and amount. */
enum { PP_CONTENTION_CELL_COUNT, PP_CONTENTION_CELL_AMOUNT };

/* Gives the charge the holder's stack, once that is recorded (NULL: it could not be). `cell` is the
 * part of that entry under the holder's labels (NULL: none), in use; it is given back later. */
void pp_charge_settle(pp_charge *charge, pp_stack_entry *entry, pp_label_cell *cell);

/* The number of waits of which a part was charged to no holder. */
uint64_t pp_contended_uncharged(void);

/* Is called in the child of fork, where no thread waits. */
void pp_contended_after_fork_in_child(void);

#endif
