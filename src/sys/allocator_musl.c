/* SPDX-License-Identifier: MIT
 *
 * allocator_musl.c: musl's allocator has no statistics.
 *
 * Zone: NORMAL.
 * Tested by: unit.memory_stats
 */
#include "sys/allocator.h"

#include <stddef.h>

bool pp_allocator_read(pp_allocator_use *use)
{
    (void)use;
    return false;
}

void pp_allocator_ask(pp_allocator_report *report)
{
    *report = (pp_allocator_report){.name = NULL};
}
