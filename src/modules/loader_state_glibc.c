/* SPDX-License-Identifier: MIT
 *
 * loader_state_glibc.c: see the header.
 *
 * Zone: SIGNAL.
 * Tested by: unit.loader
 */
#include "modules/loader_state.h"

bool pp_loader_never_unloads(void)
{
    return false;
}

bool pp_loader_is_libc(void)
{
    return false;
}
