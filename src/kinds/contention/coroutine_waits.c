/* SPDX-License-Identifier: MIT
 *
 * coroutine_waits.c: what a switch of tasks does beside its stores (<pprof_task.h>): labels move
 * with the task, and a wait that is over is an event of the block profile.
 *
 * Both functions are called by inline functions of the header, on the thread that switches, between
 * the change of the sequence and the switch itself. The task's stack is that of the suspension.
 *
 * Zone: HOOK.
 * Tested by: e2e.tasks, e2e.task_waits
 */
#include "base/compiler.h"
#include "kinds/contention/contention.h"
#include "store/switch_work.h"
#include "sys/clock.h"
#include "threads/coroutines.h"

#include "pprof_task.h"

static uint32_t work(void)
{
    return __atomic_load_n(&pp_switch_work, __ATOMIC_RELAXED);
}

/* The usual work, without a frame on the stack. False: there is other work. */
static inline bool do_usual_work(pprof_task *task)
{
    return pp_likely(work() == PP_SWITCH_LABELS) && pp_labels_swap_unshown(&task->labels_);
}

PP_COLD_PATH static void suspend(pprof_task *task)
{
    if ((work() & PP_SWITCH_LABELS) != 0) {
        pp_labels_swap(&task->labels_);
    }
    if ((work() & PP_SWITCH_CLOCK) != 0 && task->why_ != NULL) {
        __atomic_store_n(&task->since_ns_, pp_clock_ns(CLOCK_MONOTONIC), __ATOMIC_RELAXED);
    }
}

void pprof_task_suspending(pprof_task *task)
{
    if (!do_usual_work(task)) {
        suspend(task);
    }
}

static void record_wait(const pprof_task *task)
{
    pp_suspension suspension = pp_coroutine_suspension(task);
    uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
    uint64_t since_ns = suspension.since_ns;
    pp_contention_record_suspended(&suspension, now_ns > since_ns ? now_ns - since_ns : 1);
}

PP_COLD_PATH static void resume(pprof_task *task)
{
    if ((work() & PP_SWITCH_LABELS) != 0) {
        pp_labels_swap(&task->labels_);
    }
    if ((work() & PP_SWITCH_CLOCK) != 0 && task->since_ns_ != 0) {
        record_wait(task);
    }
}

void pprof_task_resumed(pprof_task *task)
{
    if (!do_usual_work(task)) {
        resume(task);
    }
}
