/* SPDX-License-Identifier: MIT
 *
 * symbolize_control.c: see the header.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: the option's value.
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
