/* SPDX-License-Identifier: MIT
 *
 * symbolize.c: stores the value of the option `symbolize`.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: the option's value.
 * Tested by: unit.options, e2e.lines, e2e.readers
 */
#include "output/symbolize.h"

static pp_symbolize current = PP_SYMBOLIZE_NAMES;

pp_symbolize pp_symbolize_wanted(void)
{
    return __atomic_load_n(&current, __ATOMIC_RELAXED);
}

void pp_symbolize_set(pp_symbolize wanted)
{
    __atomic_store_n(&current, wanted, __ATOMIC_RELAXED);
}
