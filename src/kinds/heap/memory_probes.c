/* SPDX-License-Identifier: MIT
 *
 * memory_probes.c: see memory_probes.h.
 *
 * Zone: HOOK.
 * Owns: the semaphores.
 * Tested by: e2e.otel_memory
 */
#include "kinds/heap/memory_probes.h"

#include "arch/probe.h"
#include "base/compiler.h"
#include "base/exponential.h"

#include <stdbool.h>

#define PROVIDER "otel_memory"

PP_PROBE_SEMAPHORE(pp_memory_alloc_semaphore);
PP_PROBE_SEMAPHORE(pp_memory_free_semaphore);

static bool is_on;

void pp_memory_probes_begin(void)
{
    __atomic_store_n(&is_on, true, __ATOMIC_RELAXED);
}

PP_COLD_PATH static void pass_alloc(uintptr_t block, uint64_t size, uint64_t weight)
{
    PP_PROBE3(PROVIDER, "alloc", "pp_memory_alloc_semaphore", block, size, weight);
}

PP_COLD_PATH static void pass_free(uintptr_t block)
{
    PP_PROBE1(PROVIDER, "free", "pp_memory_free_semaphore", block);
}

static bool is_wanted(uint16_t semaphore)
{
    return pp_unlikely(semaphore != 0) && __atomic_load_n(&is_on, __ATOMIC_RELAXED);
}

void pp_memory_probe_alloc(uintptr_t block, uint64_t size, uint64_t rate)
{
    if (is_wanted(pp_memory_alloc_semaphore)) {
        double weight = (double)size * pp_blocks_per_sample((double)size, rate);
        pass_alloc(block, size, (uint64_t)(weight + 0.5));
    }
}

void pp_memory_probe_free(uintptr_t block)
{
    if (is_wanted(pp_memory_free_semaphore)) {
        pass_free(block);
    }
}
