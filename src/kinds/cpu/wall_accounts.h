/* SPDX-License-Identifier: MIT
 *
 * wall_accounts.h: where each thread's time has gone, exact for each thread.
 *
 * Every so often all threads are looked at from outside (threads/thread_snapshot.h). Between two
 * sights of the same thread, three amounts are known exactly: the time that passed, what the
 * thread's CPU clock shows, and what the scheduler says the thread waited for a processor. The rest
 * is what the thread waited in calls.
 *
 *   sights       A            (runs)            B           B
 *   thread   ....AAAAA--------aa----------------BBBBBBBBBBBBBBB....      - on a processor
 *                |<----- time - CPU - delay --->|<-- waited -->|
 *
 * - A thread whose clock has not moved since it was seen waiting has waited there all the time.
 * - Between other sights it has run. What it has waited there is known, but not where: each sight of a
 *   wait stands for half of the time to the sights before and after (the trapezoidal rule), and the
 *   thread's sum is divided among the places in proportion. So each thread's sum is exact, and the shares
 *   of the places have no bias (docs/WALL.md).
 * - Time on a processor is the CPU sampler's. Time of waiting for one goes to the stack of the thread's
 *   next sample there.
 *
 * - While no thread runs, looks are rarer, and begin again in time for a thread that begins.
 *
 * Zone: HOOK.
 * Locks: one, for the accounts; that of cpu_threads.c is taken while it is held.
 * Owns: the accounts, and the table of the places where threads waited.
 */
#ifndef PP_KINDS_CPU_WALL_ACCOUNTS_H
#define PP_KINDS_CPU_WALL_ACCOUNTS_H

#include "host/sampler.h"
#include "host/worker.h"
#include "store/label_cells.h"
#include "store/stack_counts.h"
#include "sys/task_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum pp_wall_state {
    PP_WALL_RUNNING,
    PP_WALL_PREEMPTED,
    PP_WALL_LOCK,
    PP_WALL_IO,
    PP_WALL_NET,
    PP_WALL_SLEEP,
    PP_WALL_POLL,
    PP_WALL_CHILD,
    PP_WALL_PAGE,
    PP_WALL_OTHER
} pp_wall_state;

/* What a thread waited that was never seen waiting. */
void pprof_unseen_waits(void);

/* A thread at the moment of a look. */
typedef struct pp_wall_sight {
    int tid;
    uint64_t now_ns;     /* CLOCK_MONOTONIC */
    int64_t cpu_ns;      /* its CPU clock */
    int64_t delay_ns;    /* that it waited for a processor so far; -1: not known */
    pp_wall_state state; /* PP_WALL_RUNNING: no stack */
    bool is_restarted;   /* of a call without a name: that of the last wait, if the stack is it */
    const uintptr_t *pc; /* return-like, leaf-most first */
    uint32_t depth;
    pprof_labels *labels;
    char name[PP_TASK_NAME_BYTES]; /* for the label `thread`; "": nobody wants it */
} pp_wall_sight;

/* The time at each place: the first address of a stack is 1 + its pp_wall_state. Counts and the
 * first value of cells are nanoseconds. */
typedef struct pp_wall_places {
    pp_stack_counts *counts;
    pp_label_cells *labels; /* may be NULL */
    uint64_t lost_ns;       /* the table was full */
} pp_wall_places;

/* Opens the books. `may_ask`: no filter forbids system calls that were not tried. `looker` looks at the
 * threads, at the pace that they set. 0 or -ENOMEM. */
int pp_wall_accounts_begin(bool may_ask, pp_worker *looker);

/* Closes them. Nobody reads the table any more. */
void pp_wall_accounts_end(void);

/* The number of accounts, which changes at any time. */
size_t pp_wall_accounts_count(void);

/* Reads the CPU clock of each thread that has an account; of those that have not run for some time, of a
 * part in turn, unless `everyone` is due, or none has run: then the looker rests for as many intervals as there are
 * parts, or until a thread begins. What the clock of a thread shows that was seen
 * waiting, and has not run since, is counted. The others are listed: they have to be looked at. False:
 * there are threads without an account, too, or more than `capacity`. A thread whose name has changed is
 * listed, too, while names are wanted (thread_label.h; `folder` is that of pp_task_open() then). The
 * caller blocks signals. */
bool pp_wall_list_moved(bool everyone, int folder, int *tids, size_t capacity, size_t *count);

/* Counts what a sight shows. The caller blocks signals. */
void pp_wall_see(const pp_wall_sight *sight);

/* Counts what is known of threads that run at `now_ns`, and returns the table. */
const pp_wall_places *pp_wall_settle_all(uint64_t now_ns);

/* Tells when threads begin and end. */
extern const pp_sampler pp_wall_sampler;

void pp_wall_accounts_after_fork_in_child(void);

#endif
