/* SPDX-License-Identifier: MIT
 *
 * cpu_session.h: what the rooms of the CPU sampler share: the running session and its threads.
 *
 *   cpu.c         NORMAL   starts, stops, turns counts into a profile
 *   cpu_threads.c  SIGNAL   the threads, the engine `timer`: one POSIX timer each; settles at exit
 *   cpu_perf.c    SIGNAL   the engine `perf`: a perf event beside the timer
 *   cpu_signal.c  SIGNAL   the handler: unwind, count
 *
 * A session lives from start to stop. A handler announces itself in the session's `in_flight`
 * before it looks at `active` (pp_cpu_session_enter); the stop clears `active` and waits for
 * `in_flight`, so that the tables are quiet when they are read and may be unmapped after that. A
 * handler may be held up for longer than the stop waits (its thread is frozen, or a page comes from
 * a slow disk). Such a handler goes on with the session that it entered: that one's tables stay,
 * its slots are not given out again, and the next session is another one, until the handler has
 * come back.
 *
 * Accounting. Thread CPU time is cut into periods at first_ns, first_ns + period, ..., where
 * first_ns is uniform in (0, period] after the thread's start. Each cut is one unit of weight, so
 * the expected weight of a thread is its CPU time over the period, without bias for short threads.
 * The kernel looks at ticks only: cuts that it noticed late arrive as overruns, cuts that it did
 * not notice before the thread ended are settled from the thread's CPU clock. Under the engine
 * `perf` the weight of every sample is read from that clock. docs/SAMPLING.md has the proof.
 *
 * Zone: SIGNAL (data).
 * Locks: `lock` of cpu_threads.c guards the list of slots; a slot's `counted` and `last`
 *        are written by the slot's own thread.
 * Owns: nothing; the variables are defined in the files named beside them.
 */
#ifndef PP_KINDS_CPU_CPU_SESSION_H
#define PP_KINDS_CPU_CPU_SESSION_H

#include "base/compiler.h"
#include "store/label_cells.h"
#include "store/stack_counts.h"
#include "unwind/stops.h"
#include "unwind/walk.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* A thread with its timer. Slots are never unmapped: a late signal still points to one. */
typedef struct pp_cpu_slot {
    int tid;           /* 0 = free */
    int timer;         /* the kernel's id, -1 = none */
    uint32_t session;  /* the session that armed it */
    uint32_t next;     /* index + 1 of the next slot of the hash chain, or of the free list */
    uint32_t scan;     /* number of the last scan that met the thread */
    uint32_t held_by;  /* index + 1 of the session one of whose late handlers may still use it */
    int event;         /* the descriptor of its perf event, < 0: none; cpu_perf.c */
    uint64_t first_ns; /* on the thread's CPU clock: when the first sample is due */
    uint64_t counted;  /* weight recorded so far */
    bool by_clock;     /* the timer was put off: overruns do not tell all that is due */
    uint8_t callers;   /* of its start routine: pp_thread_callers_keep() */
    uint64_t held_until_ns; /* on the thread's CPU clock: no event before */
    uint64_t seen_ns;       /* its CPU clock at the last signal; cpu_perf.c */
    uint64_t slowest_ns;    /* CPU time of a handler since the event's last batch; cpu_perf.c */
    uintptr_t begin;        /* of the thread: the start routine, return-like, 0 = unknown */
    uint64_t event_id;      /* the kernel's number of the event: descriptors may change hands */
    pp_stack_entry *last;
    pp_label_cell
        *last_cell; /* in use: what is settled at the end has the labels of the last sample */
} pp_cpu_slot;

/* How the threads get their signals; one engine serves a whole session. Zone: SIGNAL. */
typedef struct pp_cpu_engine {
    const char *name;
    /* First sample at first_ns, or after held_until_ns, then one a period. 0 or -errno (-ESRCH: the
     * thread has ended), and then nothing is left behind. Both under the lock of cpu_threads.c. */
    int (*arm)(pp_cpu_slot *slot);
    void (*disarm)(pp_cpu_slot *slot);
    /* No signal before `until_ns` on the thread's CPU clock. Under that lock, on the
     * thread itself. */
    void (*hold)(pp_cpu_slot *slot, uint64_t until_ns);
    /* The weight that a signal of the engine's stands for; 0 = no sample. In flight. */
    uint64_t (*on_signal)(pp_cpu_slot *slot, const siginfo_t *info);
    /* After a sample whose handler began at `begin_ns`, monotonic. May be NULL. In flight. */
    void (*after_sample)(pp_cpu_slot *slot, uint64_t begin_ns);
} pp_cpu_engine;

/* Written while no handler is in flight, except the counters. */
typedef struct pp_cpu_session {
    bool active;
    uint32_t number;
    uint64_t in_flight;
    const pp_cpu_engine *engine;
    uint64_t period_ns;
    uint64_t deadline_ns; /* monotonic; samples after it are dropped; 0 = none */
    pp_stack_counts *counts;
    pp_label_cells *labels; /* whose owners are the entries of `counts`; NULL: no memory */
    /* What became of the samples, in weight. */
    pp_stops stops;
    uintptr_t first_without_rule; /* where the first PP_STOP_NO_RULE was, return-like; 0 = none */
    uint64_t lost_table_full;
    uint64_t lost_no_scratch;
    uint64_t lost_no_room;       /* on the alternate stack where the handler ran */
    uint64_t lost_not_delivered; /* the signal was blocked past libc, or no timer was armed */
    uint64_t settled; /* due, but unnoticed by the kernel when the thread or profile ended */
    /* Threads. */
    uint64_t threads_armed;
    uint64_t threads_unarmed; /* timer_create refused: RLIMIT_SIGPENDING */
    /* The engine `perf`; the other one leaves them 0. */
    bool events_off; /* refused for good */
    int event_error; /* why an event was refused, -errno */
    uint64_t events_armed, events_refused;
    uint64_t events_closed; /* the descriptor was gone: the host closed it */
} pp_cpu_session;

enum { PP_CPU_SESSIONS = 4 /* of which all but one wait for a late handler */ };

/* The running session, or the last one; never NULL. */
extern pp_cpu_session pp_cpu_sessions[PP_CPU_SESSIONS];
extern pp_cpu_session *pp_cpu;

/* Announces the caller in the running session; NULL if there is none. Zone: SIGNAL. */
static inline pp_cpu_session *pp_cpu_session_enter(void)
{
    pp_cpu_session *session = __atomic_load_n(&pp_cpu, __ATOMIC_ACQUIRE);
    __atomic_add_fetch(&session->in_flight, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&session->active, __ATOMIC_SEQ_CST)) {
        return session;
    }
    __atomic_sub_fetch(&session->in_flight, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static inline void pp_cpu_session_leave(pp_cpu_session *session)
{
    __atomic_sub_fetch(&session->in_flight, 1, __ATOMIC_SEQ_CST);
}

static inline bool pp_cpu_is_active(void)
{
    return __atomic_load_n(&__atomic_load_n(&pp_cpu, __ATOMIC_ACQUIRE)->active, __ATOMIC_ACQUIRE);
}

/* How many samples of the slot's thread are due when its CPU clock shows `cpu_ns`. */
static inline uint64_t pp_cpu_due(const pp_cpu_slot *slot, uint64_t cpu_ns)
{
    return cpu_ns < slot->first_ns ? 0 : (cpu_ns - slot->first_ns) / pp_cpu->period_ns + 1;
}

/* Of these, how many were not recorded. */
static inline uint64_t pp_cpu_owed(const pp_cpu_slot *slot, uint64_t cpu_ns)
{
    uint64_t due = pp_cpu_due(slot, cpu_ns);
    return due > slot->counted ? due - slot->counted : 0;
}

/* The slot that was found to be the calling thread's, and in which session. Whoever gives the slot
 * up sets `slot` to NULL: it may be another thread's soon. */
typedef struct pp_cpu_own {
    const pp_cpu_slot *slot;
    uint32_t session;
} pp_cpu_own;

extern PP_TLS pp_cpu_own pp_cpu_own_slot;

/* Adds `weight` to a stack; NULL: there was no room, and that is counted. */
pp_stack_entry *pp_cpu_count_stack(pp_cpu_session *session, const uintptr_t *pcs, uint32_t depth,
                                   uint64_t hash, uint64_t weight);

/* Adds it to the part that a set of labels has of the stack; the cell is in use then. */
pp_label_cell *pp_cpu_count_labels(const pp_cpu_session *session, const pp_stack_entry *entry,
                                   pprof_labels *labels, uint64_t weight);

/* Adds a stack with its weight, or counts it as lost; the labels (NULL: none) are those of the
 * thread. The caller has entered the session, or no handler is in flight. Zone: SIGNAL. */
void pp_cpu_count(pp_cpu_session *session, const uintptr_t *pcs, uint32_t depth,
                  pprof_labels *labels, uint64_t weight);

#endif
