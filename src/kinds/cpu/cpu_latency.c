/* SPDX-License-Identifier: MIT
 *
 * cpu_latency.c: counts the threads that run.
 *
 *   clock as seen before ------------------> does not run          one reading, 0.25 us
 *   else a second reading: it has gone on --> runs
 *
 * Where there are more than FEW threads, a sample in N / FEW is looked at, at random, and counts for as
 * many: the sums have no bias, and the readings take the same share of the CPU time however many threads
 * there are (FEW * 0.25 us in 10 ms, 0.16 %).
 *
 * The kernel brings the clock of a thread that runs up to date when it is read, to the nanosecond.
 *
 * Zone: SIGNAL.
 * Tested by: e2e.cpu_latency
 */
#include "kinds/cpu/cpu_latency.h"

#include "base/random.h"
#include "base/stack_hash.h"
#include "sys/address_space.h"
#include "sys/clock.h"
#include "sys/tasks.h"

enum { FEW = 64, USUAL_PERIOD_NS = 10 * 1000 * 1000, COUNTS_SHARE = 20 };

static const size_t counts_bytes = 16u << 20;

static bool is_wanted;

void pp_cpu_latency_want(bool wanted)
{
    is_wanted = wanted;
}

pp_stack_counts *pp_cpu_latency_new(void)
{
    return is_wanted ? pp_stack_counts_new(pp_address_space_share(counts_bytes, COUNTS_SHARE))
                     : NULL;
}

static bool runs(pp_cpu_slot *slot, int tid)
{
    int64_t first_ns = pp_task_cpu_ns(tid);
    if (first_ns < 0 || (uint64_t)first_ns == __atomic_load_n(&slot->clock_ns, __ATOMIC_RELAXED)) {
        return false;
    }
    int64_t then_ns = pp_task_cpu_ns(tid);
    __atomic_store_n(&slot->clock_ns, (uint64_t)then_ns, __ATOMIC_RELAXED);
    return then_ns > first_ns;
}

static unsigned count_running(pp_cpu_slots all, const pp_cpu_slot *own)
{
    unsigned count = 1;
    for (uint32_t i = 0; i < all.count; i++) {
        int tid = __atomic_load_n(&all.list[i].tid, __ATOMIC_RELAXED);
        count += tid != 0 && &all.list[i] != own && runs(&all.list[i], tid);
    }
    return count;
}

/* How many samples this one stands for; 0: it is not looked at. */
static double chance(const pp_cpu_session *session, uint32_t slots, const pp_cpu_slot *own)
{
    uint64_t random = pp_clock_ns(CLOCK_MONOTONIC) ^ (uintptr_t)own << 32;
    double few = (double)FEW * (double)session->facts.period_ns / USUAL_PERIOD_NS;
    double one_in = (double)slots / (few < FEW ? few : FEW);
    if (one_in <= 1) {
        return 1;
    }
    const double all = 1 << 30;
    return (double)pp_random_below(&random, 1 << 30) * one_in < all ? one_in : 0;
}

void pp_cpu_latency_count(pp_cpu_session *session, pp_cpu_slots all, const pp_cpu_slot *slot,
                          const pp_stack_entry *entry, pp_label_cell *cell, uint64_t weight)
{
    const uintptr_t key = (uintptr_t)entry;
    if (session->latency == NULL || entry == NULL || weight == 0) {
        return;
    }
    double stands_for = chance(session, all.count, slot);
    if (stands_for > 0) {
        double cpu_ns = (double)weight * (double)session->facts.period_ns;
        uint64_t ns = (uint64_t)(cpu_ns * stands_for / count_running(all, slot));
        pp_stack_counts_record(session->latency, &key, 1, pp_stack_hash(&key, 1), ns);
        pp_label_cell_add(cell, PP_CPU_CELL_LATENCY, ns);
    }
}

uint64_t pp_cpu_latency_of(pp_stack_counts *latency, const pp_stack_entry *entry)
{
    const uintptr_t key = (uintptr_t)entry;
    const pp_stack_entry *found =
        pp_stack_counts_record(latency, &key, 1, pp_stack_hash(&key, 1), 0);
    return found != NULL ? __atomic_load_n(&found->count, __ATOMIC_RELAXED) : 0;
}
