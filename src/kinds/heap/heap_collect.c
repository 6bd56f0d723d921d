/* SPDX-License-Identifier: MIT
 *
 * heap_collect.c: the program's collector, and its last run.
 *
 * A profile that is written when the process ends is written by a destructor of this library, after
 * everything of the program: what the collector works on may be gone by then. So its run stands in
 * the order of atexit(), at the place at which the collector was set: what was there by then, and
 * is taken down by a later handler, is still there.
 *
 *   statics made, pprof_set_collector(), more atexit(f)
 *   exit() --> f --> [the collector] --> statics taken down --> our destructor: the file
 *
 * Zone: NORMAL.
 * Owns: whether the last run is due.
 */
#include "kinds/heap/heap_collect.h"

#include "arch/registers.h"
#include "kinds/heap/heap_control.h"
#include "host/start.h"
#include "kinds/heap/heap_cycles.h"
#include "sys/safe_read.h"

#include "pprof.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static struct {
    bool is_due;              /* the last run is wanted, and has not begun */
    void (*registered)(void); /* the collector for which atexit() was last called */
} last_run;

/* What a handler returns to. */
static bool is_signal_restorer(uintptr_t pc)
{
    uint8_t code[sizeof pp_signal_restorer];
    return pp_safe_copy(code, pc, sizeof code) &&
           memcmp(code, pp_signal_restorer, sizeof code) == 0;
}

/* Programs call exit() in handlers, though they must not: the thread below may be in the collector,
 * or have its locks. */
static bool is_in_signal_handler(void)
{
    uintptr_t pcs[PPROF_MAX_STACK];
    size_t depth = pprof_callers(0, pcs, PPROF_MAX_STACK);
    size_t i = 0;
    while (i < depth && !is_signal_restorer(pcs[i])) {
        i++;
    }
    return i < depth;
}

/* The one that was registered last comes first; the others find it done. */
static void collect_at_end(void)
{
    if (__atomic_exchange_n(&last_run.is_due, false, __ATOMIC_ACQ_REL) &&
        pp_heap_control_wants_file() && !is_in_signal_handler()) {
        pp_heap_collect();
    }
}

/* A program that sets the same one again and again has one handler. */
void pprof_set_collector(void (*collect)(void))
{
    pp_preload_link();
    pp_heap_collector_set(collect);
    if (collect == NULL) {
        return;
    }
    __atomic_store_n(&last_run.is_due, true, __ATOMIC_RELEASE);
    if (__atomic_exchange_n(&last_run.registered, collect, __ATOMIC_ACQ_REL) != collect) {
        (void)atexit(
            collect_at_end); /* without memory for it the profile is as of the last cycle */
        (void)at_quick_exit(collect_at_end);
    }
}

void pp_heap_collect_after_fork(void)
{
    __atomic_store_n(&last_run.is_due, false, __ATOMIC_RELEASE);
}
