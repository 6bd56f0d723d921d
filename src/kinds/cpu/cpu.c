/* SPDX-License-Identifier: MIT
 *
 * cpu.c: starts and stops sessions of the CPU sampler.
 *
 * Zone: NORMAL, and the fatal-signal writer (no malloc, no stdio).
 * Owns: the running session.
 * Tested by: unit.cpu_session, unit.cpu_priority, unit.cpu_perf
 */
#include "kinds/cpu/cpu.h"

#include "host/sampling_handler.h"
#include "kinds/cpu/cpu_latency.h"
#include "kinds/cpu/cpu_perf.h"
#include "kinds/cpu/cpu_signal.h"
#include "kinds/cpu/cpu_threads.h"
#include "kinds/cpu/cpu_timers.h"
#include "modules/modules.h"
#include "sys/address_space.h"
#include "sys/apart.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/safe_read.h"
#include "sys/sandbox.h"
#include "threads/small_stacks.h"
#include "unwind/copies.h"
#include "unwind/rule_cache.h"
#include "unwind/scratch.h"
#include "unwind/stack_memo.h"

#include <errno.h>

/* Address space for stacks, which uses memory only as it fills. 64 MiB hold 250 000 stacks of 30
 * frames. */
static const size_t counts_bytes = 64u << 20;

static const size_t least_counts_bytes = 1u << 20;

enum {
    COUNTS_SHARE = 20 /* one part in 20 of a limited address space */
};

static const uint64_t patience_of_failed_start_ns = 1000000000;

static const pp_cpu_engine *const engines[] = {
    [PP_CPU_TIMERS] = &pp_cpu_engine_timers,
    [PP_CPU_PERF] = &pp_cpu_engine_perf,
};

static uint32_t last_number; /* session numbers are never 0, which a free slot has */

/* Takes the tables out before they are unmapped: a fork in between may copy the session, and its child frees what it has. */
static void free_tables(pp_cpu_session *session)
{
    pp_stack_counts *counts = session->counts;
    pp_stack_counts *latency = session->latency;
    pp_label_cells *labels = session->labels;
    session->latency = NULL;
    session->counts = NULL;
    session->labels = NULL;
    pp_stack_counts_free(counts);
    pp_label_cells_free(labels);
    pp_stack_counts_free(latency);
}

/* Finds a session in which there is no late handler, and frees the tables that such a handler has
 * kept. NULL if there is none. */
static pp_cpu_session *find_session(void)
{
    for (unsigned i = 0; i < PP_CPU_SESSIONS; i++) {
        pp_cpu_session *session = &pp_cpu_sessions[i];
        if (__atomic_load_n(&session->in_flight, __ATOMIC_SEQ_CST) == 0) {
            free_tables(session);
            return session;
        }
    }
    return NULL;
}

/* 0, or -errno if there can be no perf events: -EBUSY if a thread of the library could not close them. */
static int refuses_perf(void)
{
    return pp_apart_stay_all() ? pp_sandbox_probe_perf() : -EBUSY;
}

/* Resets a session, except `in_flight`: a late signal may announce itself at any time. */
static void prepare(pp_cpu_session *session, uint64_t period_ns, uint64_t duration_ns,
                    pp_stack_counts *counts)
{
    last_number += last_number + 1 != 0 ? 1 : 2;
    session->facts =
        (pp_cpu_facts){.period_ns = period_ns, .time_ns = (int64_t)pp_clock_ns(CLOCK_REALTIME)};
    session->start_ns = pp_clock_ns(CLOCK_MONOTONIC);
    session->number = last_number;
    session->deadline_ns = 0;
    if (duration_ns != 0 &&
        __builtin_add_overflow(session->start_ns, duration_ns, &session->deadline_ns)) {
        session->deadline_ns = UINT64_MAX;
    }
    session->counts = counts;
    session->labels = pp_label_cells_new();
    session->latency = pp_cpu_latency_new();
}

int pp_cpu_start(uint64_t period_ns, uint64_t duration_ns, pp_cpu_engine_choice choice)
{
    pp_sandbox sandbox = pp_sandbox_probe();
    if (sandbox == PP_SANDBOX_REFUSES) {
        return -EPERM;
    }
    if (sandbox == PP_SANDBOX_NO_COPY) {
        pp_safe_read_forbid_copy();
    }
    pp_clock_ask_for_counter();
    int error = pp_cpu_threads_reserve();
    if (error == 0) {
        error = pp_sampling_handler_install();
    }
    if (error != 0) {
        return error;
    }
    pp_modules_refresh();
    pp_cpu_session *session = find_session();
    if (session == NULL) {
        return -EBUSY;
    }
    size_t bytes = pp_address_space_share(counts_bytes, COUNTS_SHARE);
    pp_stack_counts *counts =
        pp_stack_counts_new(bytes > least_counts_bytes ? bytes : least_counts_bytes);
    if (counts == NULL) {
        return -ENOMEM;
    }
    prepare(session, period_ns, duration_ns, counts);
    session->engine = engines[choice];
    __atomic_store_n(&pp_cpu, session, __ATOMIC_SEQ_CST);
    pp_cpu_perf_reserve(choice == PP_CPU_PERF ? refuses_perf() : 0);
    pp_cpu_threads_take_back_slots();
    __atomic_store_n(&session->active, true, __ATOMIC_SEQ_CST);
    if (pp_cpu_threads_arm_all() == 0) {
        pp_cpu_result none;
        pp_cpu_stop(patience_of_failed_start_ns, &none);
        pp_cpu_result_release(&none);
        return -EAGAIN;
    }
    return 0;
}

/* Waits until no handler is between its announcement and its end; false if the time is up. */
static bool wait_for_handlers(uint64_t patience_ns)
{
    uint64_t give_up_ns = pp_clock_ns(CLOCK_MONOTONIC) + patience_ns;
    for (unsigned i = 0; __atomic_load_n(&pp_cpu->in_flight, __ATOMIC_SEQ_CST) != 0; i++) {
        if (pp_clock_ns(CLOCK_MONOTONIC) >= give_up_ns) {
            return false;
        }
        pp_lock_pause(i); /* sleeps: a handler with less priority may want this processor */
    }
    return true;
}

static uint64_t end_ns_of(const pp_cpu_session *session)
{
    uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
    return session->deadline_ns != 0 && now_ns > session->deadline_ns ? session->deadline_ns
                                                                      : now_ns;
}

static void fill_result(uint64_t end_ns, pp_cpu_result *result)
{
    *result = (pp_cpu_result){
        .counts = pp_cpu->counts,
        .labels = pp_cpu->labels,
        .latency = pp_cpu->latency,
        .facts = pp_cpu->facts,
        .duration_ns = (int64_t)(end_ns - pp_cpu->start_ns),
        .perf_wanted = pp_cpu->engine == &pp_cpu_engine_perf,
        .handler_replaced = !pp_sampling_handler_installed(),
    };
}

void pp_cpu_peek(pp_cpu_result *result)
{
    fill_result(end_ns_of(pp_cpu), result);
}

void pp_cpu_stop(uint64_t patience_ns, pp_cpu_result *result)
{
    __atomic_store_n(&pp_cpu->active, false, __ATOMIC_SEQ_CST);
    uint64_t end_ns = end_ns_of(pp_cpu);
    bool quiet = wait_for_handlers(patience_ns);
    pp_cpu_threads_disarm_all(patience_ns, quiet);
    fill_result(end_ns, result);
    result->handlers_in_flight = !quiet;
    if (quiet) {
        pp_cpu->counts = NULL;
        pp_cpu->labels = NULL;
        pp_cpu->latency = NULL;
    }
}

void pp_cpu_result_release(pp_cpu_result *result)
{
    if (!result->handlers_in_flight) {
        pp_stack_counts_free(result->counts);
        pp_label_cells_free(result->labels);
        if (result->latency != NULL) {
            pp_stack_counts_free(result->latency);
        }
    }
    result->latency = NULL;
    result->counts = NULL;
    result->labels = NULL;
}

void pp_cpu_after_fork_in_child(void)
{
    for (unsigned i = 0; i < PP_CPU_SESSIONS; i++) {
        pp_cpu_session *session = &pp_cpu_sessions[i];
        session->active = false;
        session->in_flight = 0; /* handlers of the parent's threads */
        free_tables(session);
    }
    pp_sampling_handler_after_fork_in_child();
    pp_cpu_own_slot.slot = NULL;
    pp_small_stacks_after_fork_in_child();
    pp_scratch_after_fork_in_child();
    pp_rule_cache_after_fork_in_child();
    pp_memo_after_fork_in_child();
    pp_copies_after_fork_in_child();
    pp_cpu_threads_after_fork_in_child();
    pp_modules_after_fork_in_child();
}
