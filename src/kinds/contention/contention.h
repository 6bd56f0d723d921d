/* SPDX-License-Identifier: MIT
 *
 * contention.h: who waits for whom: the samplers of the block and mutex profiles.
 *
 * The block profile shows where threads wait and for how long, the mutex profile which holder made
 * them wait. A thread that finds something taken puts itself on a list before it goes to sleep; who
 * releases it looks at the list before.
 *
 *   waiter   ..lock..[ begin .................................. got it, end ]
 *                    since                                  |rest|
 *   holder           .......[looks: sums the waits][releases][walks its stack, records]
 *
 * Each nanosecond of a wait is charged once: up to a release to the one that releases (all waiters'
 * clocks start again there), and what remains after the last release, the waking up, to that same
 * holder (contended.h). Holders' delays and lock waits are thereby the same sum. A contention is a
 * wait that has ended, and counts for the release that it ended with. A waiter that met no holder
 * (it came between a holder's look and its release) charges pprof_unseen_holder().
 *
 * [runtime/mprof: blockevent, mutexevent, saveblockevent]
 *
 * Zone: HOOK. Nothing allocates, errno is preserved.
 * Locks: those of contended.h.
 * Owns: the two tables of stacks, and those of labels; 8 bytes of TLS.
 */
#ifndef PP_KINDS_CONTENTION_CONTENTION_H
#define PP_KINDS_CONTENTION_CONTENTION_H

#include "kinds/contention/contended.h"
#include "kinds/contention/waiters.h"
#include "store/stack_counts.h"
#include "unwind/walk.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- read by the entry stubs (arch/) ---- */

/* Not 0: something with this hash was found taken lately, look twice (see pp_contention_cool). */
extern uint8_t pp_contention_hot[PP_CONTENTION_HASHES];

/* ---- waiting ---- */

/* A wait of the calling thread; waiter is NULL if it cannot be recorded. */
typedef struct pp_wait {
    pp_waiter *waiter;
    uint64_t serial;
} pp_wait;

typedef enum pp_wait_for {
    PP_WAIT_FOR_LOCK,  /* another thread holds it and will release it through pp_release_begin() */
    PP_WAIT_FOR_UNIT,  /* of a semaphore: nobody is known to hold it, but others may want it next */
    PP_WAIT_FOR_EVENT, /* others have nothing to wait for when it is over */
} pp_wait_for;

/* The calling thread is about to wait for `object`. */
pp_wait pp_wait_begin(uintptr_t object, pp_wait_for what, const pp_caller *caller);

/* It has it. */
void pp_wait_end(pp_wait wait);

/* It has waited, and goes without: the time is up, or it is refused. No release has ended this
 * wait. */
void pp_wait_give_up(pp_wait wait);

/* It did not have to wait after all: no event. */
void pp_wait_cancel(pp_wait wait);

/* The thread is being unwound, and comes by the frame of a wait: the innermost one that it has is
 * over. None, if that had no waiter. */
void pp_wait_end_innermost(void);

/* Something with a hot hash was free: counts down until the entry stubs need not look twice. */
void pp_contention_cool(uintptr_t object);

/* ---- releasing ---- */

typedef struct pp_release {
    uint64_t waited_ns; /* by all waiters, since they last were charged for */
    uint64_t scale;     /* how many releases this one stands for */
    pp_charge *charge;
} pp_release;

/* Before a release; true if it is to be recorded. */
bool pp_release_begin(uintptr_t object, pp_release *release);

/* After it. The object may be gone. */
void pp_release_record(const pp_release *release, const pp_caller *caller);

/* ---- rates ---- */

/* Nanoseconds; every wait of at least so long is recorded; 0 = off. */
int64_t pp_contention_block_rate(void);
int64_t pp_contention_mutex_fraction(void);
/* Return what was before; -1 if there is no memory for the table. Zone: NORMAL. */
int64_t pp_contention_set_block_rate(int64_t nanoseconds);
int64_t pp_contention_set_mutex_fraction(int64_t fraction);

/* ---- reading ---- */

/* What was recorded: count in PP_CONTENTION_EVENT, 0 = nothing yet; amount in nanoseconds. NULL if
 * never on. */
const pp_stack_counts *pp_contention_blocked(void);
const pp_stack_counts *pp_contention_held_up(void);
/* What fell to labels: of who waited, or who released. NULL: nothing did. */
pp_label_cells *pp_contention_blocked_labels(void);
pp_label_cells *pp_contention_held_up_labels(void);

/* A wait that goes on. `pcs` as in a stack_counts entry; the labels (NULL: none) are
 * the caller's. */
typedef void pp_waiting_visit(const uintptr_t *pcs, uint32_t depth, const pprof_labels *labels,
                              uint64_t since_ns, void *context);
/* Zone: NORMAL. */
void pp_contention_each_waiting(pp_waiting_visit *visit, void *context);
/* How many there may be. */
size_t pp_contention_count_waiting(void);

enum { PP_CONTENTION_FRACTIONS = 8 }; /* that are remembered; few programs change theirs at all */

typedef struct pp_contention_facts {
    uint64_t lost_waits; /* no waiter or room was to be had */
    uint64_t lost_releases;
    uint64_t uncharged_waits; /* in whole or in part */
    /* Those in force when releases were recorded, in the order of the first one of each; 0 = no
     * more. */
    uint64_t fractions[PP_CONTENTION_FRACTIONS];
    bool more_fractions;
} pp_contention_facts;

void pp_contention_facts_read(pp_contention_facts *read);

/* The calling thread begins, and its end will be told. */
void pp_contention_thread_begin(void);
/* It is about to end. */
void pp_contention_thread_end(void);
/* In the child of fork: whoever waited does not exist. */
void pp_contention_after_fork_in_child(void);

#endif
