/* SPDX-License-Identifier: MIT
 *
 * real_version_musl.c: musl's functions have one version each.
 *
 * Zone: HOOK.
 * Tested by: e2e.musl
 */
#include "host/real_version.h"

#include <stddef.h>

void *pp_real_next_version(const char *name, const char *version)
{
    (void)name;
    (void)version;
    return NULL;
}
