/* SPDX-License-Identifier: MIT
 *
 * callers.c: pprof_callers(), the stack of the caller [runtime.Callers].
 *
 * The public entry is a stub without a frame of its own: it hands the caller's registers over, and
 * the walk begins at the return address.
 *
 * Zone: SIGNAL.
 * Locks: none.
 * Owns: nothing.
 */
#include "arch/stubs.h"
#include "base/compiler.h"
#include "sys/sanitizers.h"
#include "unwind/walk.h"

#include "pprof.h"

PP_STUB_WITH_CALLER(pprof_callers, pp_callers_from);

/* Jumped to from the stub alone. */
size_t pp_callers_from(int skip, uintptr_t *pcs, size_t capacity, uintptr_t sp, uintptr_t fp,
                       uintptr_t bx);

__attribute__((visibility("hidden"), used)) PP_RAW_MEMORY size_t
pp_callers_from(int skip, uintptr_t *pcs, size_t capacity, uintptr_t sp, uintptr_t fp, uintptr_t bx)
{
    uintptr_t return_address = *(const uintptr_t *)sp;
    uint32_t room = capacity < UINT32_MAX ? (uint32_t)capacity : UINT32_MAX;
    pp_walk_space space;
    pp_walk walk = {
        .pcs = pcs, .space = &space, .capacity = room, .skip = skip > 0 ? (uint32_t)skip : 0};
    if (room > 0) {
        pp_walk_from_caller(return_address, sp + sizeof(uintptr_t), fp, bx, &walk);
    }
    pp_sanitizers_write(pcs, walk.depth * sizeof *pcs);
    return walk.depth;
}
