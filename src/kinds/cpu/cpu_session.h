/* SPDX-License-Identifier: MIT
 *
 * cpu_session.h: the running session and its threads, which the files of the CPU sampler share.
 *
 *   cpu.c          NORMAL   starts and stops a session
 *   cpu_threads.c  SIGNAL   the threads and their accounts; settles what was not sampled
 *   cpu_timers.c   SIGNAL   the engine `timer`: one POSIX timer for each thread
 *   cpu_perf.c     SIGNAL   the engine `perf`: a perf event beside the timer
 *   cpu_signal.c   SIGNAL   the handler: walks, counts
 *
 * A session lives from start to stop. A handler announces itself in the session's `in_flight`
 * before it reads `active` (pp_cpu_session_enter()). The stop clears `active` and waits for
 * `in_flight`. After that no handler writes to the tables: they can be read and unmapped. A handler
 * may be held up for longer than the stop waits (its thread is frozen, or a page comes from a slow
 * disk). Such a handler goes on with the session that it entered. Until it comes back, that session
 * keeps its tables and its slots, and the next start takes another session.
 *
 * Accounting. The CPU time of a thread is cut into periods at first_ns, first_ns + period, ...,
 * where first_ns is uniform in (0, period] after the thread's start. Each cut is one unit of
 * weight. So the expected weight of a thread is its CPU time divided by the period, without bias
 * for short threads. The kernel looks at timers only at its ticks: cuts that it notices late arrive
 * as overruns; cuts that it does not notice before the thread ends are settled from the thread's
 * CPU clock. The engine `perf` reads the weight of every sample from that clock. docs/SAMPLING.md
 * has the proof.
 *
 * Zone: SIGNAL (data).
 * Locks: `lock` of cpu_threads.c guards the list of slots; only the slot's own thread writes
 *        `counted` and `last`.
 * Owns: nothing; cpu_session.c defines the variables.
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

/* A thread that is sampled. Slots are never unmapped: a late signal may still point to one. */
typedef struct pp_cpu_slot {
    int tid;             /* 0 = free */
    int timer;           /* the kernel's id, -1 = none */
    uint32_t session;    /* the session that armed it */
    uint32_t next;       /* index + 1 of the next slot of the hash chain, or of the free list */
    uint32_t scan;       /* number of the last scan that met the thread */
    uint32_t held_by;    /* index + 1 of a session; a late handler of it may still use the slot */
    int event;           /* the descriptor of its perf event, < 0: none; cpu_perf.c */
    uint32_t slow_ns;    /* CPU time of the last slow handler, halved by each quick one since */
    uint64_t first_ns;   /* on the thread's CPU clock: when the first sample is due */
    uint64_t counted;    /* weight recorded so far */
    bool by_clock;       /* the timer was put off: overruns do not count all that is due */
    uint8_t callers;     /* of its start routine: pp_thread_callers_keep() */
    uint32_t slowest_ns; /* CPU time of a handler since the event's last batch; cpu_perf.c */
    uint64_t held_until_ns; /* on the thread's CPU clock: no event before */
    uint64_t rest_until_ns; /* on the thread's CPU clock: its timer takes no sample before */
    uint64_t seen_ns;       /* its CPU clock at the last signal, if read; or scan, if unarmed */
    uint64_t clock_ns;      /* its CPU clock when it was last seen running; cpu_latency.c */
    uint64_t preempted_ns;  /* waited for a processor; for the next sample (wall.h) */
    uintptr_t begin;        /* of the thread: the start routine, return-like, 0 = unknown */
    uint64_t event_id;      /* the kernel's number of the event: descriptors may change hands */
    pp_stack_entry *last;   /* the stack of the last sample */
    /* The labels of the last sample, in use; what is settled at the end has them. */
    pp_label_cell *last_cell;
} pp_cpu_slot;

/* The CPU time of a handler as slots keep it, for which address space is reserved: in 32 bits. */
static inline uint32_t pp_cpu_handler_ns(uint64_t took_ns)
{
    return took_ns < UINT32_MAX ? (uint32_t)took_ns : UINT32_MAX;
}

/* All slots that were ever given out: any of them may change hands meanwhile. */
typedef struct pp_cpu_slots {
    pp_cpu_slot *list;
    uint32_t count;
} pp_cpu_slots;

/* An engine sends the threads their signals. A session has one engine. Zone: SIGNAL. */
typedef struct pp_cpu_engine {
    const char *name;
    /* Arms a thread: its first sample is at first_ns, or after held_until_ns, and then there is one
     * each period. 0 or -errno (-ESRCH: the thread has ended); after an error nothing is armed.
     * Callers of arm, disarm and hold have the lock of cpu_threads.c. */
    int (*arm)(pp_cpu_slot *slot);
    void (*disarm)(pp_cpu_slot *slot);
    /* Sends the calling thread no signal before `until_ns` on its CPU clock. */
    void (*hold)(pp_cpu_slot *slot, uint64_t until_ns);
    /* Returns the weight of a signal; 0 = no sample. The caller has entered the session. */
    uint64_t (*on_signal)(pp_cpu_slot *slot, const siginfo_t *info);
    /* Is called after a sample whose handler began at `begin_ns`, monotonic. `may_be_slow`: it did more than to look things
     * up. The caller has entered the session. */
    void (*after_sample)(pp_cpu_slot *slot, uint64_t begin_ns, bool may_be_slow);
} pp_cpu_engine;

/* The facts of a session that its profile shows. */
typedef struct pp_cpu_facts {
    uint64_t period_ns;
    int64_t time_ns; /* wall clock at the start */
    /* The samples, in weight. */
    pp_stops stops;
    uint64_t lost_table_full;
    uint64_t lost_no_scratch;
    uint64_t lost_no_room;       /* on the alternate stack where the handler ran */
    uint64_t lost_not_delivered; /* the signal was blocked past libc, or no timer was armed; these
                                  * are in the counts, as lost samples */
    uint64_t settled; /* due, but not noticed by the kernel when the thread or profile ended */
    /* The threads. */
    uint64_t threads_armed;
    uint64_t threads_unarmed; /* refused by timer_create (RLIMIT_SIGPENDING), or out of reach */
    /* The events of the engine `perf`; 0 with the other engine. */
    int event_error; /* why an event was refused, -errno */
    uint64_t events_armed, events_refused;
    uint64_t events_closed; /* the host has closed the descriptor */
} pp_cpu_facts;

/* A session's members, except the counters, are written only while no handler is in flight. */
typedef struct pp_cpu_session {
    bool active;
    uint32_t number;
    uint64_t in_flight;
    const pp_cpu_engine *engine;
    uint64_t start_ns;    /* monotonic */
    uint64_t deadline_ns; /* monotonic; samples after it are dropped; 0 = none */
    pp_stack_counts *counts;
    pp_label_cells *labels;   /* the cells' owners are the entries of `counts`; NULL: no memory */
    pp_stack_counts *latency; /* cpu_latency.h: nanoseconds, by address of the entry; NULL: none */
    bool events_off;          /* perf events are refused for the whole session */
    pp_cpu_facts facts;
} pp_cpu_session;

enum { PP_CPU_SESSIONS = 4 /* one that runs, and three that wait for late handlers */ };

/* The running session, or the last one; never NULL. */
extern pp_cpu_session pp_cpu_sessions[PP_CPU_SESSIONS];
extern pp_cpu_session *pp_cpu;

/* Announces the caller in the running session, and returns it; NULL if no session runs. Zone:
 * SIGNAL. */
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

/* The number of samples of the slot's thread that are due when its CPU clock shows `cpu_ns`. */
static inline uint64_t pp_cpu_due(const pp_cpu_slot *slot, uint64_t cpu_ns)
{
    return cpu_ns < slot->first_ns ? 0 : (cpu_ns - slot->first_ns) / pp_cpu->facts.period_ns + 1;
}

/* The number of these that were not recorded. */
static inline uint64_t pp_cpu_owed(const pp_cpu_slot *slot, uint64_t cpu_ns)
{
    uint64_t due = pp_cpu_due(slot, cpu_ns);
    return due > slot->counted ? due - slot->counted : 0;
}

/* The slot that was found to be the calling thread's, and the session in which it was. The thread
 * sets `slot` to NULL when it gives the slot up, since another thread may get it. */
typedef struct pp_cpu_own {
    const pp_cpu_slot *slot;
    uint32_t session;
} pp_cpu_own;

extern PP_TLS pp_cpu_own pp_cpu_own_slot;

/* The values of cells. */
enum { PP_CPU_CELL_WEIGHT, PP_CPU_CELL_PREEMPTED, PP_CPU_CELL_LATENCY };

/* Counts at the stack, and in its cell (NULL: none), what the slot's thread has waited for a processor
 * since its last sample. `amount` of an entry is such nanoseconds. */
void pp_cpu_count_preempted(pp_cpu_slot *slot, pp_stack_entry *entry, pp_label_cell *cell);

/* Adds `weight` to a stack. NULL: there is no room; the weight is counted as lost. */
pp_stack_entry *pp_cpu_count_stack(pp_cpu_session *session, const uintptr_t *pcs, uint32_t depth,
                                   uint64_t hash, uint64_t weight);

/* Adds `weight` to the part of the stack under a set of labels. Returns the cell, in use. */
pp_label_cell *pp_cpu_count_labels(const pp_cpu_session *session, const pp_stack_entry *entry,
                                   pprof_labels *labels, uint64_t weight);

/* Adds `weight` to a stack and to its part under the thread's labels (NULL: none), or counts it as
 * lost. The caller has entered the session, or no handler is in flight. Zone: SIGNAL. */
void pp_cpu_count(pp_cpu_session *session, const uintptr_t *pcs, uint32_t depth,
                  pprof_labels *labels, uint64_t weight);

#endif
