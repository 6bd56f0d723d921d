/* SPDX-License-Identifier: MIT
 *
 * loader_state_musl.c: see the header.
 *
 * Zone: SIGNAL.
 * Tested by: e2e.musl
 */
#include "modules/loader_state.h"

bool pp_loader_never_unloads(void)
{
    return true;
}

bool pp_loader_is_libc(void)
{
    return true;
}
