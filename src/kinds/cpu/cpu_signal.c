/* SPDX-License-Identifier: MIT
 *
 * cpu_signal.c: takes one CPU sample, from the signal to the table.
 *
 *   signal (host/sampling_handler.h)
 *     -> of a slot? -> session active? -> thread's own slot? -> room? -> scratch -> walk -> count
 *            |no            |no                |no               |none     |none            |full
 *            v              v                  v                 v         v                v
 *        not ours        nothing            nothing           counted as lost
 *
 * Zone: SIGNAL. No malloc, no wait for a lock, < 1 KiB of stack; errno is preserved.
 * Tested by: unit.cpu_session, e2e.interruptions, e2e.alternate_stacks
 */
#include "kinds/cpu/cpu_signal.h"

#include "base/compiler.h"
#include "host/sampling_handler.h"
#include "kinds/cpu/cpu_latency.h"
#include "kinds/cpu/cpu_perf.h"
#include "kinds/cpu/cpu_session.h"
#include "kinds/cpu/cpu_threads.h"
#include "kinds/cpu/thread_label.h"
#include "store/labels.h"
#include "sys/clock.h"
#include "sys/tasks.h"
#include "unwind/scratch.h"

#include <signal.h>

static void note_last(pp_cpu_session *session, pp_cpu_slot *slot, pp_stack_entry *entry,
                      uint64_t weight)
{
    pprof_labels *labels = pp_thread_label_take();
    __atomic_store_n(&slot->last, entry, __ATOMIC_RELEASE);
    if (labels != NULL || slot->last_cell != NULL) {
        pp_label_cell *before = slot->last_cell;
        slot->last_cell = pp_cpu_count_labels(session, entry, labels, weight);
        pp_label_cell_give(before);
        pp_labels_unref(labels);
    }
    pp_cpu_count_preempted(slot, entry, slot->last_cell);
    pp_cpu_latency_count(session, pp_cpu_threads_slots(), slot, entry, slot->last_cell, weight);
}

/* This is a function of its own so that its frame is not on the stack while the walk runs. */
static __attribute__((noinline)) void count_walk(pp_cpu_session *session, pp_cpu_slot *slot,
                                                 uint64_t weight, pp_scratch *scratch)
{
    const pp_walk *walk = &scratch->walk;
    pp_stack_entry *entry =
        pp_cpu_count_stack(session, scratch->pcs, walk->depth, walk->hash, weight);
    pp_stops_count(&session->facts.stops, walk, weight);
    pp_scratch_give(scratch);
    if (entry != NULL) {
        note_last(session, slot, entry, weight);
    }
}

/* Returns whether it did more than to look things up. */
static bool take_sample(pp_cpu_session *session, pp_cpu_slot *slot, uint64_t weight,
                        const void *context)
{
    slot->counted += weight;
    pp_scratch *scratch = pp_scratch_take();
    if (scratch == NULL) {
        __atomic_add_fetch(&session->facts.lost_no_scratch, weight, __ATOMIC_RELAXED);
        return true;
    }
    pp_walk *walk = &scratch->walk;
    *walk = (pp_walk){.pcs = scratch->pcs,
                      .space = &scratch->space,
                      .capacity = PP_SCRATCH_DEPTH,
                      .wants_hash = true};
    pp_walk_from_context(context, walk);
    bool may_be_slow = walk->computed || walk->guessed || session->latency != NULL;
    count_walk(session, slot, weight, scratch);
    return may_be_slow;
}

static void lose_sample(pp_cpu_session *session, pp_cpu_slot *slot, uint64_t weight)
{
    slot->counted += weight;
    __atomic_add_fetch(&session->facts.lost_no_room, weight, __ATOMIC_RELAXED);
}

/*
 * Whether the slot is the calling thread's in this session. A signal may come late, from a timer of
 * an earlier session whose slot belongs to another thread now. The system call is made once for
 * each thread and session.
 */
static bool is_own_slot(const pp_cpu_session *session, const pp_cpu_slot *slot)
{
    if (__atomic_load_n(&slot->session, __ATOMIC_ACQUIRE) != session->number) {
        return false;
    }
    if (pp_cpu_own_slot.slot == slot && pp_cpu_own_slot.session == session->number) {
        return true;
    }
    if (slot->tid != pp_task_self()) {
        return false;
    }
    pp_cpu_own_slot = (pp_cpu_own){slot, session->number};
    return true;
}

/* This is a function of its own for the same reason as count_walk(). */
static __attribute__((noinline)) uint64_t read_clock_ns(void)
{
    return pp_clock_ns(CLOCK_MONOTONIC);
}

static void take_claimed(void *claimed, const siginfo_t *info, const void *context)
{
    pp_cpu_slot *slot = claimed;
    pp_cpu_session *session = pp_cpu_session_enter();
    if (session == NULL) {
        return;
    }
    uint64_t now_ns = read_clock_ns();
    if (is_own_slot(session, slot) &&
        (session->deadline_ns == 0 || now_ns < session->deadline_ns)) {
        uint64_t weight = session->engine->on_signal(slot, info);
        if (weight > 0 && pp_sampling_has_room(context)) {
            bool may_be_slow = take_sample(session, slot, weight, context);
            pp_cpu_threads_look_again(now_ns);
            session->engine->after_sample(slot, now_ns, may_be_slow);
        } else if (weight > 0) {
            lose_sample(session, slot, weight);
        }
    }
    pp_cpu_session_leave(session);
}

static void *claim(const siginfo_t *info)
{
    pp_cpu_slot *slot = NULL;
    if (info->si_code == SI_TIMER) {
        return pp_cpu_threads_owns(info->si_value.sival_ptr) ? info->si_value.sival_ptr : NULL;
    }
    return pp_cpu_perf_owns(info, &slot) ? slot : NULL;
}

const pp_sampler pp_cpu_sampler = {
    .on = {[PP_THREAD_ENDS] = pp_cpu_threads_end,
           [PP_THREAD_PAUSES] = pp_cpu_threads_pause,
           [PP_THREAD_RESUMES] = pp_cpu_threads_resume,
           [PP_THREAD_CHANGES_STACK] = pp_cpu_threads_hold,
           [PP_THREAD_EXECUTES] = pp_cpu_threads_before_exec,
           [PP_THREAD_FAILED_TO_EXECUTE] = pp_cpu_threads_after_failed_exec,
           [PP_LOOKER_BEGINS] = pp_cpu_threads_looker_begins,
           [PP_LOOKER_LOOKS] = pp_cpu_threads_looker_looks,
           [PP_LOOKER_ENDS] = pp_cpu_threads_looker_ends},
    .thread_begins = pp_cpu_threads_begin,
    .claim = claim,
    .take = take_claimed,
    .may_have_sent = pp_cpu_perf_may_have_sent,
    .owns_descriptor = pp_cpu_perf_has,
};
