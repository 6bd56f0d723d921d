/* SPDX-License-Identifier: MIT
 *
 * worker.h: a thread of the library that calls a function at a certain time, again and again, or
 * whenever a handler wakes it. The options `duration`, `interval` and `signal` have one each.
 *
 *   begin --> the thread waits --> it is time, or rung --> work() --> waits, or is over
 *
 * A handler of a timer's signal would interrupt the program's calls, and could not do what takes
 * locks or calls the loader. The thread blocks all signals, and no profile shows it. It pauses with
 * the others (host/pausable.h), and ends when all threads of the program have ended: such a process
 * ends with its last thread.
 *
 * Zone: NORMAL.
 * Owns: the thread.
 */
#ifndef PP_HOST_WORKER_H
#define PP_HOST_WORKER_H

#include "sys/doorbell.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct pp_worker {
    void (*work)(void);
    void (*leaves)(void); /* last on each of its threads, which pauses or ends; may be NULL */
    bool avoids_libc;     /* work() and leaves() do as pp_pausable says (pausable.h) */
    /* Those below are of worker.c. */
    uint64_t next_ns;     /* the time of the next call; UINT64_MAX: it comes when it is rung for */
    uint64_t interval_ns; /* from one call to the next; 0: the first one is the last */
    uint64_t random;      /* state of random intervals; 0: they are equal */
    uint64_t look_ns;     /* when to check whether this is the last thread */
    uint32_t pace;        /* random intervals from one call to the next, taken for one */
    uint32_t paced;       /* those that `next_ns` is made of */
    uint32_t state;
    uint32_t rung, answered;
    pp_doorbell bell;
} pp_worker;

/* Calls work() once, when CLOCK_MONOTONIC shows `at_ns`, or when all threads of the program have
 * ended before. 0, -EBUSY while the worker waits, or -errno of creating a thread. */
int pp_worker_begin_at(pp_worker *worker, uint64_t at_ns);

/* Calls work() each time that this much time has passed; a call that takes longer than that is
 * followed by the next one whose time comes. Returns as pp_worker_begin_at(). */
int pp_worker_begin_each(pp_worker *worker, uint64_t interval_ns);

/* Calls work() at random intervals, from half of `mean_ns` to three halves of it: a program that does
 * something at equal intervals is not seen at the same point each time. As pp_worker_begin_each(). */
int pp_worker_begin_at_random(pp_worker *worker, uint64_t mean_ns);

/* A worker with random intervals calls work() only after `pace` of them, taken for a long one. While it waits, a
 * quicker pace is in force at once, a slower one after the next call. It begins with 1. Zone: SIGNAL. */
static inline void pp_worker_set_pace(pp_worker *worker, uint32_t pace)
{
    if (__atomic_exchange_n(&worker->pace, pace, __ATOMIC_ACQ_REL) > pace) {
        pp_doorbell_ring(&worker->bell);
    }
}

/* Calls work() once for each pp_worker_ring(). Returns as pp_worker_begin_at(). */
int pp_worker_begin_rung(pp_worker *worker);

/* Zone: SIGNAL. It counts before the thread begins, too. */
void pp_worker_ring(pp_worker *worker);

/* Ends the thread, if there is one, and waits for it. work() must not call this. */
void pp_worker_end(pp_worker *worker);

/* In the child of fork, which does not have the thread. */
void pp_worker_after_fork(pp_worker *worker);

/* Whether all threads of the program have ended, the first one by pthread_exit(). The last thread
 * of such a process must not be one of libpprof's. */
bool pp_worker_is_alone(void);

#endif
