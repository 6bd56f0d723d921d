/* SPDX-License-Identifier: MIT
 *
 * endings_glibc.c: glibc has unwind tables.
 *
 * Zone: SIGNAL.
 * Tested by: e2e.crash
 */
#include "modules/endings.h"

uintptr_t pp_ending_before(uintptr_t pc)
{
    (void)pc;
    return 0;
}
