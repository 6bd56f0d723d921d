/* SPDX-License-Identifier: MIT
 *
 * contended.h: the objects that threads wait for, and who is charged for these waits.
 *
 * An object has a record here as long as somebody waits for it. The record knows how many wait and
 * the sum of the moments since when, so that a release costs the same whether one waits or a
 * thousand:
 *
 *   since_sum   += now for each that comes, -= its own for each that goes
 *   release      is charged waiters * now - since_sum; from then on everybody waits since now
 *
 * What a waiter waits after the last release, the waking up, goes to that same holder, and so does
 * the wait itself, which that release has ended, as a contention. Its other releases meanwhile (who
 * wakes up may find the lock taken again) are charged, and count for none. The holder's stack is
 * not known yet when it releases, so the holder and the record share a `charge`: what waiters bring
 * before the stack is known is written by whoever is the last to drop it.
 *
 * Zone: HOOK. Nothing allocates.
 * Locks: one for each list of records, by who holds it. A signal handler that interrupted its own
 *        thread in there goes without, and so does everybody once whoever is in there has not come
 *        back for a second (a handler that jumped away, a thread that was stopped); if it does come
 *        back after all, its list begins anew. So it does when the thread that jumped away comes to it
 *        again.
 * Owns: lists, records, charges (.bss); 8 bytes of TLS.
 */
#ifndef PP_KINDS_CONTENTION_CONTENDED_H
#define PP_KINDS_CONTENTION_CONTENDED_H

#include "store/label_cells.h"
#include "store/stack_counts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PP_CONTENTION_HASH_BITS = 12,
    PP_CONTENTION_HASHES = 1 << PP_CONTENTION_HASH_BITS,
    PP_CONTENDED_MAX = 8192 /* objects, and waits, at one moment */
};

/* Counts are kept in parts of an event: a short wait stands for rate / wait of them. */
enum { PP_CONTENTION_EVENT = 1 << 20 };

static inline size_t pp_contention_hash(uintptr_t object)
{
    return (object >> 4 ^ object >> 16) & (PP_CONTENTION_HASHES - 1);
}

typedef struct pp_contended pp_contended;
typedef struct pp_charge pp_charge;

/* Somebody's place among those that wait. */
typedef struct pp_place {
    pp_contended *at; /* NULL = none */
    uintptr_t object;
    uint64_t serial, releases; /* of the record, when it was joined */
    uint64_t since_ns;
} pp_place;

/* From now on the caller waits for `object`. False if there is no way in: then nobody
 * is charged. */
bool pp_contended_join(uintptr_t object, pp_place *place);

/*
 * The caller waits no more, since now_ns (CLOCK_MONOTONIC), which is returned. What it waited since
 * the last release is added to that holder's charge; where there was no release at all it is stored
 * in *unseen_ns. got_it: it has what it waited for, so that the last release has ended a wait;
 * false: it gave up. A place that was never taken is left all the same.
 */
uint64_t pp_contended_leave(pp_place *place, bool got_it, uint64_t *unseen_ns);

/*
 * Before a release of `object`: true if somebody waits; *waited_ns is for how long, summed, since
 * the last time. scale: how many releases this one stands for, 0 = it is not among the chosen ones,
 * and nobody is charged. *charge is NULL then, or if there is none left.
 */
bool pp_contended_release(uintptr_t object, uint64_t scale, uint64_t *waited_ns,
                          pp_charge **charge);

/* The values of a cell whose owner is an entry: the parts of its count and amount. */
enum { PP_CONTENTION_CELL_COUNT, PP_CONTENTION_CELL_AMOUNT };

/* The holder's stack is recorded (NULL: it could not be), `cell` is the part that its labels have
 * of it (NULL: none), in use, and is given back. */
void pp_charge_settle(pp_charge *charge, pp_stack_entry *entry, pp_label_cell *cell);

/* Waits of which a part could not be charged to anybody. */
uint64_t pp_contended_uncharged(void);

void pp_contended_after_fork_in_child(void);

#endif
