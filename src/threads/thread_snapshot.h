/* SPDX-License-Identifier: MIT
 *
 * thread_snapshot.h: lists all threads of the process with their stacks [runtime.GoroutineProfile].
 *
 *   a thread that          its stack
 *   waits in the kernel    is walked from outside. If its CPU clock has not moved meanwhile,
 *                          neither has the thread (a sequence lock).
 *   runs                   is taken by the thread itself (thread_answers.h). Meanwhile the snapshot
 *                          checks again whether the thread waits by now.
 *   does neither           is missing: the row has only what the thread's record says
 *
 * A thread that has not run since an earlier snapshot is not walked again (kept_threads.h).
 *
 * The snapshot never sends anything to a thread that waits: it interrupts no call of the program.
 * The program goes on meanwhile; each thread's stack is consistent by itself. The snapshot leaves
 * out threads that end meanwhile.
 *
 * A stack that is not whole ends in the pseudo-frame pprof_missing_frames and, if it is known, the
 * thread's start routine.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: nothing; everything is in the arena, except the references to labels, and what is kept for
 *       the next snapshot.
 */
#ifndef PP_THREADS_THREAD_SNAPSHOT_H
#define PP_THREADS_THREAD_SNAPSHOT_H

#include "base/arena.h"
#include "store/labels.h"
#include "store/stack_counts.h"
#include "sys/task_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The pseudo-frame of what a stack lacks. */
void pprof_missing_frames(void);

typedef enum pp_thread_state {
    PP_THREAD_RUNS,
    PP_THREAD_WAITS_IN_CALL,
    PP_THREAD_WAITS,        /* for a page, or for something unknown */
    PP_THREAD_WAITS_DEEPLY, /* uninterruptibly: no signal can wake it */
    PP_THREAD_IS_STOPPED,
    PP_THREAD_IS_SILENT, /* runs, but has not answered in time */
    PP_THREAD_IS_UNSEEN  /* there is no free descriptor to look at it, or no /proc */
} pp_thread_state;

typedef struct pp_thread_row {
    int tid;
    int creator; /* 0 = not known */
    pp_thread_state state;
    bool whole; /* the stack has all frames */
    uint32_t depth;
    const uintptr_t *pc;            /* return-like, leaf-most first */
    int64_t clock_ns;               /* its CPU clock all the while, if it waits at `place` */
    pp_task_place place;            /* of a thread that waits, PP_THREAD_WAITS_IN_CALL or _WAITS */
    uintptr_t entry;                /* start routine, 0 = not known */
    const pp_stack_entry *creation; /* NULL = not known */
    pprof_labels *labels;           /* a reference; NULL = none */
    char name[PP_TASK_NAME_BYTES];
} pp_thread_row;

enum { PP_THREADS_SCRATCH = 1 << 15 };

typedef struct pp_threads_wish {
    const uintptr_t *pc; /* the calling thread's stack */
    uint32_t depth;
    bool alone;       /* only the calling thread */
    bool with_stacks; /* of other threads */
    bool asks_none;   /* threads that run have no stack */
    const int *only;  /* looks at these threads, if it is not NULL, and at the calling one */
    size_t only_count;
    bool with_names;
    bool afresh;          /* trusts no earlier snapshot */
    const int *folder;    /* for task_state.h, of the calling thread; NULL: it is opened */
    pp_task_files *files; /* that thread's, or NULL */
    void
        *scratch; /* PP_THREADS_SCRATCH bytes, zero before the first snapshot; NULL: of the arena */
} pp_threads_wish;

typedef struct pp_threads {
    pp_thread_row *rows; /* the caller's first; none of libpprof's own threads */
    size_t count;
} pp_threads;

/*
 * Fills in `threads`. 0 or -errno: -ENOMEM, or the reason why threads cannot be listed. The caller
 * releases `threads` in any case. Without a free descriptor or /proc, the list has the threads
 * whose creation the library has seen, and only the calling thread has a stack.
 */
int pp_threads_snapshot(const pp_threads_wish *wish, pp_arena *arena, pp_threads *threads);
void pp_threads_release(pp_threads *threads);

/* Whether the first thread has ended before the others: the kernel still lists it. -errno if /proc
 * cannot be read. */
int pp_first_thread_has_ended(void);

/* The number of threads that a snapshot would have. */
size_t pp_threads_count(void);

/* "running", "poll", ... */
const char *pp_thread_state_text(const pp_thread_row *row);

#endif
