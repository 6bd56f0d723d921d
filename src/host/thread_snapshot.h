/* SPDX-License-Identifier: MIT
 *
 * thread_snapshot.h: all threads of the process and their stacks, at one time [runtime.GoroutineProfile].
 *
 *   waits in the kernel    its stack is walked from outside; that its CPU clock has not moved meanwhile
 *                          shows that it stood still (a sequence lock)
 *   runs                   is asked (thread_answers.h), and looked at again meanwhile: it may wait by now
 *   does neither           is listed with what is known of it
 *
 * So nothing is ever sent to a thread that waits: no call of the program is interrupted. The
 * program goes on meanwhile; each thread's stack is consistent by itself. Threads that end
 * meanwhile are left out.
 *
 * A stack that is not whole ends in the pseudo-frame pprof_missing_frames and, where that is known,
 * the thread's start routine.
 *
 * Zone: NORMAL, and the fatal-signal writer, who asks nobody.
 * Owns: nothing; everything is in the arena, but for the references to labels.
 */
#ifndef PP_HOST_THREAD_SNAPSHOT_H
#define PP_HOST_THREAD_SNAPSHOT_H

#include "base/arena.h"
#include "store/labels.h"
#include "store/stack_counts.h"
#include "sys/task_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum pp_thread_state {
    PP_THREAD_RUNS,
    PP_THREAD_WAITS_IN_CALL,
    PP_THREAD_WAITS,        /* for a page, or nobody knows for what */
    PP_THREAD_WAITS_DEEPLY, /* so that no signal could wake it */
    PP_THREAD_IS_STOPPED,
    PP_THREAD_IS_SILENT, /* runs, and has not answered in time */
    PP_THREAD_IS_UNSEEN  /* no descriptor is left to look at it, or there is no /proc */
} pp_thread_state;

typedef struct pp_thread_row {
    int tid;
    int creator; /* 0 = not known */
    pp_thread_state state;
    bool whole; /* the stack is */
    uint32_t depth;
    const uintptr_t *pc;            /* return-like, leaf-most first */
    long call;                      /* if it waits in one */
    uintptr_t entry;                /* start routine, 0 = not known */
    const pp_stack_entry *creation; /* NULL = not known */
    pprof_labels *labels;           /* a reference; NULL = none */
    char name[PP_TASK_NAME_BYTES];
} pp_thread_row;

typedef struct pp_threads_wish {
    const uintptr_t *pc; /* the calling thread's stack */
    uint32_t depth;
    bool alone;       /* no other thread is to be looked at */
    bool with_stacks; /* of others */
    bool with_names;
} pp_threads_wish;

typedef struct pp_threads {
    pp_thread_row *rows; /* the caller's first */
    size_t count;
} pp_threads;

/*
 * 0 or -errno: -ENOMEM, or why threads cannot be listed. What is there has to be released in any
 * case. Without a descriptor or /proc it is a list of the threads that were seen when they were
 * created, with the stack of the calling one alone.
 */
int pp_threads_snapshot(const pp_threads_wish *wish, pp_arena *arena, pp_threads *threads);
void pp_threads_release(pp_threads *threads);

/* How many there are: those that a snapshot would have. */
size_t pp_threads_count(void);

/* "running", "poll", ... */
const char *pp_thread_state_text(const pp_thread_row *row);

#endif
