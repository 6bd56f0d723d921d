/* SPDX-License-Identifier: MIT
 *
 * cpu_session.c: counts samples in a session.
 *
 * Zone: SIGNAL.
 * Owns: the sessions; 16 bytes of TLS.
 */
#include "kinds/cpu/cpu_session.h"

#include "base/compiler.h"
#include "base/stack_hash.h"

pp_cpu_session pp_cpu_sessions[PP_CPU_SESSIONS];
pp_cpu_session *pp_cpu = pp_cpu_sessions;
PP_TLS pp_cpu_own pp_cpu_own_slot;

pp_stack_entry *pp_cpu_count_stack(pp_cpu_session *session, const uintptr_t *pcs, uint32_t depth,
                                   uint64_t hash, uint64_t weight)
{
    pp_stack_entry *entry = pp_stack_counts_record(session->counts, pcs, depth, hash, weight);
    if (entry == NULL) {
        __atomic_add_fetch(&session->facts.lost_table_full, weight, __ATOMIC_RELAXED);
    }
    return entry;
}

void pp_cpu_count_preempted(pp_cpu_slot *slot, pp_stack_entry *entry, pp_label_cell *cell)
{
    if (pp_likely(__atomic_load_n(&slot->preempted_ns, __ATOMIC_RELAXED) == 0)) {
        return;
    }
    uint64_t ns = __atomic_exchange_n(&slot->preempted_ns, 0, __ATOMIC_RELAXED);
    __atomic_add_fetch(&entry->amount, ns, __ATOMIC_RELAXED);
    pp_label_cell_add(cell, PP_CPU_CELL_PREEMPTED, ns);
}

pp_label_cell *pp_cpu_count_labels(const pp_cpu_session *session, const pp_stack_entry *entry,
                                   pprof_labels *labels, uint64_t weight)
{
    pp_label_cell *cell = pp_label_cell_take(session->labels, entry, labels, weight);
    pp_label_cell_add(cell, PP_CPU_CELL_WEIGHT, weight);
    return cell;
}

void pp_cpu_count(pp_cpu_session *session, const uintptr_t *pcs, uint32_t depth,
                  pprof_labels *labels, uint64_t weight)
{
    const pp_stack_entry *entry =
        pp_cpu_count_stack(session, pcs, depth, pp_stack_hash(pcs, depth), weight);
    if (entry != NULL && labels != NULL) {
        pp_label_cell_give(pp_cpu_count_labels(session, entry, labels, weight));
    }
}
