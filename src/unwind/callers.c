/* SPDX-License-Identifier: MIT
 *
 * callers.c: pprof_callers(), the stack of the caller [runtime.Callers].
 *
 * The public entry is a stub that makes no frame. The stub passes the caller's registers on, and
 * the walk begins at the return address.
 *
 * Zone: SIGNAL.
 * Tested by: unit.walk, e2e.api
 */
#include "arch/stubs.h"
#include "base/compiler.h"
#include "sys/sanitizers.h"
#include "unwind/callers.h"
#include "unwind/walk.h"

#include "pprof.h"

PP_STUB_WITH_CALLER(pprof_callers, pp_callers_from);
PP_STUB_WITH_CALLER(pp_callers_uncut, pp_callers_uncut_from);

/* Only the stubs jump here. */
size_t pp_callers_from(int skip, uintptr_t *pcs, size_t capacity, uintptr_t sp, uintptr_t fp,
                       uintptr_t bx);
size_t pp_callers_uncut_from(int skip, uintptr_t *pcs, size_t capacity, uintptr_t sp, uintptr_t fp,
                             uintptr_t bx);

static size_t walk_from(const pp_caller *caller, int skip, bool keeps_own, uintptr_t *pcs,
                        size_t capacity)
{
    pp_walk_space space;
    pp_walk walk = {.pcs = pcs,
                    .space = &space,
                    .capacity = capacity < UINT32_MAX ? (uint32_t)capacity : UINT32_MAX,
                    .skip = skip > 0 ? (uint32_t)skip : 0,
                    .keeps_own = keeps_own};
    if (walk.capacity > 0) {
        pp_walk_from_caller(caller, &walk);
    }
    pp_sanitizers_write(pcs, walk.depth * sizeof *pcs);
    return walk.depth;
}

__attribute__((visibility("hidden"), used)) size_t
pp_callers_from(int skip, uintptr_t *pcs, size_t capacity, uintptr_t sp, uintptr_t fp, uintptr_t bx)
{
    const pp_caller caller = pp_caller_at_entry(sp, fp, bx);
    return walk_from(&caller, skip, false, pcs, capacity);
}

__attribute__((visibility("hidden"), used)) size_t pp_callers_uncut_from(int skip, uintptr_t *pcs,
                                                                         size_t capacity,
                                                                         uintptr_t sp, uintptr_t fp,
                                                                         uintptr_t bx)
{
    const pp_caller caller = pp_caller_at_entry(sp, fp, bx);
    return walk_from(&caller, skip, true, pcs, capacity);
}
