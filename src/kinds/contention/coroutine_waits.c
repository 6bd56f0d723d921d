/* SPDX-License-Identifier: MIT
 *
 * coroutine_waits.c: what a switch of tasks does beside its stores (<pprof_task.h>): labels move
 * with the task, and a wait that is over is an event of the block profile.
 *
 * Both functions are called by inline functions of the header, on the thread that switches, between
 * the change of the sequence and the switch itself. The task's stack is that of the suspension.
 *
 * Zone: HOOK.
 * Tested by: e2e.tasks
 */
#include "kinds/contention/contention.h"
#include "store/switch_work.h"
#include "sys/clock.h"
#include "threads/coroutines.h"

#include "pprof_task.h"

void pprof_task_suspending(pprof_task *task)
{
    uint32_t work = __atomic_load_n(&pp_switch_work, __ATOMIC_RELAXED);
    if ((work & PP_SWITCH_LABELS) != 0) {
        pp_coroutine_exchange_labels(task);
    }
    if ((work & PP_SWITCH_CLOCK) != 0 && task->why_ != NULL) {
        __atomic_store_n(&task->since_ns_, pp_clock_ns(CLOCK_MONOTONIC), __ATOMIC_RELAXED);
    }
}

/* Not inlined: the usual switch needs no room for this on its stack. */
__attribute__((noinline)) static void record_wait(const pprof_task *task)
{
    pp_suspension suspension = pp_coroutine_suspension(task);
    uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
    uint64_t since_ns = suspension.since_ns;
    pp_contention_record_suspended(&suspension, now_ns > since_ns ? now_ns - since_ns : 1);
}

void pprof_task_resumed(pprof_task *task)
{
    uint32_t work = __atomic_load_n(&pp_switch_work, __ATOMIC_RELAXED);
    if ((work & PP_SWITCH_LABELS) != 0) {
        pp_coroutine_exchange_labels(task);
    }
    if ((work & PP_SWITCH_CLOCK) != 0 && task->since_ns_ != 0) {
        record_wait(task);
    }
}
