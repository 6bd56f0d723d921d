/* SPDX-License-Identifier: MIT
 *
 * cpu_latency.h: the sample type `latency` of the CPU profile: each sample's CPU time, divided by the
 * number of threads of the process that ran at that moment [perf record --latency].
 *
 * The sum of all is the time in which at least one thread ran. Work that runs alone weighs as much as the
 * parallel work of many threads that takes as long: it shows what to make faster for the whole to
 * end earlier, where the CPU time shows what to make cheaper.
 *
 * The handler that takes a sample reads the CPU clocks of the other threads: a clock that goes on between
 * two readings is that of a thread that runs. So the number is that of the moment of the sample, and
 * bursts that are shorter than the period count as they should (docs/SAMPLING.md).
 *
 * Zone: SIGNAL.
 * Owns: whether the next session has it.
 */
#ifndef PP_KINDS_CPU_CPU_LATENCY_H
#define PP_KINDS_CPU_CPU_LATENCY_H

#include "kinds/cpu/cpu_session.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether sessions that begin from now on have latencies. NORMAL. */
void pp_cpu_latency_want(bool wanted);

/* A table for the latencies of a session; NULL: not wanted, or no memory. NORMAL. */
pp_stack_counts *pp_cpu_latency_new(void);

/* Counts the latency of a sample of the calling thread, whose slot is `slot` of `all`, which was
 * counted in `entry` and in `cell` (NULL: no labels). The caller has entered the session. */
void pp_cpu_latency_count(pp_cpu_session *session, pp_cpu_slots all, const pp_cpu_slot *slot,
                          const pp_stack_entry *entry, pp_label_cell *cell, uint64_t weight);

/* The latency of an entry. */
uint64_t pp_cpu_latency_of(pp_stack_counts *latency, const pp_stack_entry *entry);

#endif
