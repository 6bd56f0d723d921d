/* SPDX-License-Identifier: MIT
 *
 * memory_probes.h: tells tracers of samples of the heap (arch/probe.h).
 *
 *   otel_memory:alloc(block, size, weight)   a sampled block, and the bytes that the sample represents
 *   otel_memory:free(block)                  it is about to be freed
 *
 * Source: OpenTelemetry's draft, opentelemetry-ebpf-profiler at b442421a,
 * design-docs/00003-memory-profiling/README.md, "USDT contract".
 *
 * Zone: HOOK.
 * Owns: the semaphores.
 */
#ifndef PP_KINDS_HEAP_MEMORY_PROBES_H
#define PP_KINDS_HEAP_MEMORY_PROBES_H

#include <stdint.h>

/* From now on the probes are passed while a tracer wants them. */
void pp_memory_probes_begin(void);

/* `rate`: of the sample. Called before the program gets the block. */
void pp_memory_probe_alloc(uintptr_t block, uint64_t size, uint64_t rate);

/* Of a sampled block. Called before another thread can get the same address. */
void pp_memory_probe_free(uintptr_t block);

#endif
