/* SPDX-License-Identifier: MIT
 *
 * loader_dynamic_musl.c: musl's loader has no state that would have to be read.
 *
 * Zone: NORMAL.
 * Tested by: e2e.musl
 */
#include "modules/loader.h"

bool pp_loader_find_state(const void **object, size_t *size)
{
    (void)object;
    (void)size;
    return false;
}
