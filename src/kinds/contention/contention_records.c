/* SPDX-License-Identifier: MIT
 *
 * contention_records.c: the public functions of the block and mutex profiles: rates and records
 * [runtime.SetBlockProfileRate, SetMutexProfileFraction, BlockProfile, MutexProfile].
 *
 * Zone: NORMAL.
 * Tested by: unit.contention, unit.block_rate
 */
#include "pprof.h"

#include "kinds/contention/contention_profile.h"
#include "kinds/contention/contention.h"
#include "kinds/contention/waits.h"
#include "sys/clock.h"
#include "modules/modules.h"
#include "output/prepare.h"
#include "sys/sanitizers.h"

#include <string.h>

/* ---- rates ---- */

static void rates_have_changed(void)
{
    if (pp_contention_is_on()) {
        pp_call_slots_give_back();
        pp_prepare_walks();
        pp_modules_refresh();
    }
    pp_hook_waits_count(pp_contention_is_on());
}

int64_t pprof_set_block_profile_rate(int64_t nanoseconds)
{
    if (nanoseconds < 0) {
        return pp_contention_block_rate();
    }
    int64_t before = pp_contention_set_block_rate(nanoseconds);
    rates_have_changed();
    return before;
}

int64_t pprof_set_mutex_profile_fraction(int64_t fraction)
{
    if (fraction < 0) {
        return pp_contention_mutex_fraction();
    }
    int64_t before = pp_contention_set_mutex_fraction(fraction);
    rates_have_changed();
    return before;
}

int64_t pprof_cycles_per_second(void)
{
    return PP_NS_PER_S; /* the clock counts nanoseconds */
}

/* ---- records ---- */

static void fill_record(pprof_block_record *record, const pp_profile_sample *sample)
{
    uint32_t depth = sample->depth < PPROF_MAX_STACK ? sample->depth : PPROF_MAX_STACK;
    *record = (pprof_block_record){.count = sample->value[PP_CONTENTION_COUNT],
                                   .cycles = sample->value[PP_CONTENTION_DELAY]};
    record->stack.depth = depth;
    memcpy(record->stack.pc, sample->pc, depth * sizeof *sample->pc);
}

static bool read_records(pp_contention_view view, pprof_block_record *records, size_t capacity,
                         size_t *n)
{
    pp_arena arena = PP_ARENA_INIT;
    pp_profile profile = {.sample_count = 0};
    bool fits = pp_contention_samples(view, PP_CONTENTION_STACKS, &arena, &profile) == 0 &&
                capacity >= profile.sample_count && (records != NULL || profile.sample_count == 0);
    if (fits) {
        pp_sanitizers_write(records, profile.sample_count * sizeof *records);
    }
    for (size_t i = 0; fits && i < profile.sample_count; i++) {
        fill_record(&records[i], &profile.samples[i]);
    }
    if (n != NULL) {
        *n = profile.sample_count;
    }
    pp_arena_release(&arena);
    return fits;
}

bool pprof_block_profile(pprof_block_record *records, size_t capacity, size_t *n)
{
    return read_records(PP_CONTENTION_BLOCK, records, capacity, n);
}

bool pprof_mutex_profile(pprof_block_record *records, size_t capacity, size_t *n)
{
    return read_records(PP_CONTENTION_MUTEX, records, capacity, n);
}
