/* SPDX-License-Identifier: MIT
 *
 * contention.h: records which thread waits for which: the samplers of the block and mutex profiles.
 *
 * The block profile shows where threads wait, and for how long. The mutex profile shows which
 * holder made them wait. A thread that finds an object taken puts itself on a list before it
 * sleeps. A holder reads the list before it releases the object.
 *
 *   waiter   ..lock..[ begin .................................. got it, end ]
 *                    since                                  |rest|
 *   holder           .......[sums the waits][releases][walks its stack, records]
 *
 * Each nanosecond of a wait is charged once. A release is charged for the time up to it, and all
 * waiters' clocks start again there. The last release is also charged for the rest, the time of
 * waking up (contended.h). So the delays of all holders and the waits for all locks have the same
 * sum. A contention is a wait that has ended, and counts for the release that ended it. A waiter
 * that joined the list after the holder had read it, and before the release, meets no holder: it
 * charges pprof_unseen_holder().
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
#include "threads/coroutines.h"
#include "unwind/walk.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PP_CONTENTION_FRACTIONS = 8 }; /* remembered; few programs change theirs at all */

typedef struct pp_contention_facts {
    uint64_t lost_waits; /* not recorded: no waiter, no scratch or no room was left */
    uint64_t lost_releases;
    uint64_t uncharged_waits; /* of which a part, or the whole, was charged to no holder */
    /* The fractions at which releases were recorded, by their first release; 0 = no more. */
    uint64_t fractions[PP_CONTENTION_FRACTIONS];
    bool more_fractions;
} pp_contention_facts;

typedef struct pp_contention_state {
    /* Not 0: an object with this hash was found taken lately, so the entries, which
     * read this table, call the slow path (pp_contention_cool()). */
    uint8_t hot[PP_CONTENTION_HASHES];
    int64_t block_rate, mutex_fraction;
    pp_stack_counts *blocked, *held_up;
    pp_label_cells *blocked_labels, *held_up_labels; /* made when they are needed */
    pp_contention_facts facts;
} pp_contention_state;

extern pp_contention_state pp_contention;

/* ---- waiting ---- */

/* A wait of the calling thread; waiter is NULL if it cannot be recorded. */
typedef struct pp_wait {
    pp_waiter *waiter;
    uint64_t serial;
} pp_wait;

typedef enum pp_wait_for {
    PP_WAIT_FOR_LOCK,  /* another thread holds it, and will call pp_release_begin() for it */
    PP_WAIT_FOR_UNIT,  /* of a semaphore: it has no known holder, but others may wait for it next */
    PP_WAIT_FOR_EVENT, /* no other thread waits because of this one once the wait is over */
} pp_wait_for;

/* The calling thread is about to wait for `object`. */
pp_wait pp_wait_begin(uintptr_t object, pp_wait_for what, const pp_caller *caller);

/* The wait is over, and the thread has what it waited for. */
void pp_wait_end(pp_wait wait);

/* The wait is over, and the thread does not have what it waited for: the time was up, or the call
 * was refused. No release has ended this wait. */
void pp_wait_give_up(pp_wait wait);

/* The thread did not have to wait: there was no event. */
void pp_wait_cancel(pp_wait wait);

/* Ends the innermost wait of the calling thread, if it has one: the thread is being unwound through
 * the frame of that wait. */
void pp_wait_end_innermost(void);

/* Records a wait of `wait_ns` nanoseconds of a coroutine that the calling thread resumes, under the
 * stack of the suspension and the labels of the calling thread. */
void pp_contention_record_suspended(const pp_suspension *suspension, uint64_t wait_ns);

/* An object with a hot hash was free. After enough of these calls the hash is cold, and the entry
 * stubs call the real function themselves. */
void pp_contention_cool(uintptr_t object);

/* ---- releasing ---- */

typedef struct pp_release {
    uint64_t waited_ns; /* the time of all waiters that no release is charged for yet */
    uint64_t scale;     /* the number of releases that this one counts for */
    pp_charge *charge;
} pp_release;

/* Is called before a release; true if pp_release_record() is to be called after it. */
bool pp_release_begin(uintptr_t object, pp_release *release);

/* Records a release after it. The object may be gone. */
void pp_release_record(const pp_release *release, const pp_caller *caller);

/* ---- rates ---- */

/* The block profile's rate in nanoseconds: every wait of at least this time is recorded; 0 = off.
 * The mutex profile's fraction n: one release in n is recorded; 0 = off. */
int64_t pp_contention_block_rate(void);
int64_t pp_contention_mutex_fraction(void);
/* Whether waits or releases are recorded: then the hooks have to count (waits.h). */
static inline bool pp_contention_is_on(void)
{
    return pp_contention_block_rate() > 0 || pp_contention_mutex_fraction() > 0;
}
/* Return the value before; -1 if there is no memory for the table. Zone: NORMAL. */
int64_t pp_contention_set_block_rate(int64_t nanoseconds);
int64_t pp_contention_set_mutex_fraction(int64_t fraction);

/* ---- reading ---- */

/* The recorded stacks. An entry's count is in parts of an event (PP_CONTENTION_EVENT), and may be
 * 0; its amount is in nanoseconds. NULL if the profile was never on. */
const pp_stack_counts *pp_contention_blocked(void);
const pp_stack_counts *pp_contention_held_up(void);
/* The parts of these entries under labels: those of the threads that waited, or that released.
 * NULL: no thread had labels. */
pp_label_cells *pp_contention_blocked_labels(void);
pp_label_cells *pp_contention_held_up_labels(void);

/* Is called for a wait that goes on. `pcs` are as in an entry of stack_counts. The caller keeps its
 * reference to the labels (NULL: none). */
typedef void pp_waiting_visit(const uintptr_t *pcs, uint32_t depth, const pprof_labels *labels,
                              uint64_t since_ns, void *context);
/* Calls `visit` for each wait that goes on. Zone: NORMAL. */
void pp_contention_each_waiting(pp_waiting_visit *visit, void *context);
/* Returns the greatest number of such calls that there would be now. */
size_t pp_contention_count_waiting(void);

void pp_contention_facts_read(pp_contention_facts *read);

/* The calling thread begins, and will call pp_contention_thread_end() when it ends. */
void pp_contention_thread_begin(void);
void pp_contention_thread_end(void);
/* Is called in the child of fork, where no thread waits, and none has waited yet. */
void pp_contention_after_fork_in_child(void);

#endif
