/* SPDX-License-Identifier: MIT
 *
 * coroutine_snapshot.h: lists all coroutines (coroutines.h) with their stacks.
 *
 * Each coroutine is there once. One that is suspended has its stack, in a copy that is known to be
 * of one suspension. One that runs is on the stack of its thread, which threads/thread_snapshot.h
 * takes: here it has the pseudo-frame pprof_running_task.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: nothing; everything is in the arena, except the references to labels.
 */
#ifndef PP_THREADS_COROUTINE_SNAPSHOT_H
#define PP_THREADS_COROUTINE_SNAPSHOT_H

#include "base/arena.h"
#include "store/labels.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The pseudo-frame of a coroutine that runs. */
void pprof_running_task(void);

typedef struct pp_coroutine_row {
    uint64_t id;
    uint64_t creator;     /* the coroutine that has begun it; 0: none */
    int creator_thread;   /* the thread that has */
    uintptr_t created_at; /* return-like */
    const char *name;     /* NULL: none, or not wanted */
    const char *why;      /* it waits for; NULL: for a thread, or it runs */
    bool runs;
    uint64_t since_ns; /* by CLOCK_MONOTONIC; 0: not known */
    uint32_t depth;
    const uintptr_t *pc;  /* return-like, leaf-most first; equal stacks are one object */
    pprof_labels *labels; /* a reference; NULL: none */
} pp_coroutine_row;

typedef struct pp_coroutines {
    pp_coroutine_row *rows;
    size_t count;
} pp_coroutines;

typedef struct pp_coroutines_wish {
    bool with_names;
    bool with_running; /* also those that run */
    bool hasty;        /* the process may be about to die (coroutines.h) */
} pp_coroutines_wish;

/* Fills in `coroutines`, which the caller releases in any case. 0 or -ENOMEM. */
int pp_coroutines_snapshot(const pp_coroutines_wish *wish, pp_arena *arena,
                           pp_coroutines *coroutines);
void pp_coroutines_release(pp_coroutines *coroutines);

#endif
