/* SPDX-License-Identifier: MIT
 *
 * contention_control.c: the public rates of the block and mutex profiles.
 *
 * Zone: NORMAL.
 * Locks: none.
 * Owns: nothing.
 */
#include "hook/waits.h"
#include "preload.h"
#include "sample/contention.h"
#include "sys/modules.h"

#include "pprof.h"

static void aim_hooks(void)
{
    bool on = pp_contention_block_rate() > 0 || pp_contention_mutex_fraction() > 0;
    if (on) {
        pp_modules_refresh();
    }
    pp_hook_waits_count(on);
}

int64_t pprof_set_block_profile_rate(int64_t nanoseconds)
{
    pp_preload_link();
    if (nanoseconds < 0) {
        return pp_contention_block_rate();
    }
    int64_t before = pp_contention_set_block_rate(nanoseconds);
    aim_hooks();
    return before;
}

int64_t pprof_set_mutex_profile_fraction(int64_t fraction)
{
    pp_preload_link();
    if (fraction < 0) {
        return pp_contention_mutex_fraction();
    }
    int64_t before = pp_contention_set_mutex_fraction(fraction);
    aim_hooks();
    return before;
}

int64_t pprof_cycles_per_second(void)
{
    return 1000000000; /* the clock counts nanoseconds */
}
