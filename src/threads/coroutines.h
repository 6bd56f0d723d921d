/* SPDX-License-Identifier: MIT
 *
 * coroutines.h: lists the tasks of a runtime of the program, and reads them while they switch.
 *
 * The public name of a coroutine is "task" (<pprof_task.h>); in here a task is a thread of the
 * kernel. The runtime's own object has the pprof_task, which is a link of one of 64 lists:
 *
 *   shard [lock, count] -> task -> task -> ...       from pprof_task_begin() to pprof_task_end()
 *
 * A coroutine is suspended or resumed by stores alone, without the lock. Its sequence is odd while
 * it runs. A reader holds the lock, so that the coroutine does not end; but it may be resumed at
 * any moment, by any thread:
 *
 *   resume    sequence = odd; release fence; then the coroutine writes to its stack
 *   suspend   the words;  sequence = even, release
 *   reader    sequence, acquire; the words and the stack; acquire fence; sequence
 *
 * If the sequence has not changed, all that the reader has read belongs to this suspension.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Locks: one for each shard. None is taken while it is held.
 * Owns: the shards; a reference to the labels of each coroutine.
 */
#ifndef PP_THREADS_COROUTINES_H
#define PP_THREADS_COROUTINES_H

#include "store/labels.h"
#include "unwind/caller.h"

#include "pprof_task.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A suspension: what the coroutine has stored. */
typedef struct pp_suspension {
    uint32_t sequence;
    pp_caller caller; /* no leaf; sp 0: there is no stack */
    uintptr_t stack_end;
    const pprof_task_frame *frames; /* of a coroutine without a stack; NULL: none */
    const char *why;
    uint64_t since_ns;    /* 0: not measured */
    pprof_labels *labels; /* no reference */
} pp_suspension;

/* Lists `task`, whose size_ is set, as suspended. `created_at`: if the options have none. 0, -EINVAL,
 * or -EEXIST: it is listed already, and has not changed. */
int pp_coroutine_begin(pprof_task *task, const pprof_task_options *options, uintptr_t created_at);

/* Takes the coroutine from its list, once no reader holds the lock. One that has not begun, in memory
 * of any content, stays as it is. */
void pp_coroutine_end(pprof_task *task);

/* Copies the last suspension. Zone: HOOK. */
static inline pp_suspension pp_coroutine_suspension(const pprof_task *task)
{
    uintptr_t sp = __atomic_load_n(&task->sp_, __ATOMIC_RELAXED);
    uintptr_t fp = __atomic_load_n(&task->fp_, __ATOMIC_RELAXED);
    bool is_on_stack = sp >= task->stack_ && sp < task->stack_end_;
    return (pp_suspension){
        .caller = {.return_address = __atomic_load_n(&task->pc_, __ATOMIC_RELAXED),
                   .sp = is_on_stack ? sp : 0,
                   .fp = sp != 0 ? fp : 0,
                   .bx = __atomic_load_n(&task->bx_, __ATOMIC_RELAXED)},
        .stack_end = task->stack_end_,
        .frames = sp == 0 ? (const pprof_task_frame *)fp : NULL,
        .why = __atomic_load_n(&task->why_, __ATOMIC_RELAXED),
        .since_ns = __atomic_load_n(&task->since_ns_, __ATOMIC_RELAXED),
        .labels = __atomic_load_n(&task->labels_, __ATOMIC_RELAXED),
    };
}

/* Copies the suspension. False: the coroutine runs. */
bool pp_coroutine_read(const pprof_task *task, pp_suspension *suspension);

/* Whether it is still the same: then all that was read since pp_coroutine_read() belongs to it. */
bool pp_coroutine_is_still(const pprof_task *task, const pp_suspension *suspension);

/* How many there are; 0 without a lock if there never was one. */
size_t pp_coroutines_count(void);

/* Calls `visit` for each coroutine, which does not end meanwhile. `patient`: waits for locks as
 * long as it takes; else leaves out what a thread that may never go on has locked. */
typedef void pp_coroutine_visit(const pprof_task *task, void *context);
void pp_coroutines_each(bool patient, pp_coroutine_visit *visit, void *context);

/* In the child of fork, whose only thread holds no lock. */
void pp_coroutines_after_fork_in_child(void);

#endif
