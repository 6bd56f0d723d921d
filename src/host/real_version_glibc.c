/* SPDX-License-Identifier: MIT
 *
 * real_version_glibc.c: see the header.
 *
 * Zone: HOOK.
 * Locks: the loader's.
 * Tested by: e2e.old_conditions
 */
#include "host/real_version.h"

#include "arch/shown_as.h"

#include <dlfcn.h>

void *pp_real_next_version(const char *name, const char *version)
{
    return dlvsym(RTLD_NEXT, name, version);
}
PP_OWN_WORK(pp_real_next_version);
