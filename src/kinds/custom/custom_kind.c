/* SPDX-License-Identifier: MIT
 *
 * custom_kind.c: the kind "custom": the program's own profiles, which no option starts.
 *
 * Zone: NORMAL.
 * Tested by: unit.custom_profiles, e2e.profiles
 */
#include "host/kind.h"
#include "kinds/custom/custom_profiles.h"

static bool has_profiles(void)
{
    return pp_custom_profiles_first() != NULL;
}

static void after_fork(bool goes_on)
{
    (void)goes_on;
    pp_custom_profiles_after_fork_in_child();
}

const pp_kind pp_kind_custom = {
    .name = "custom",
    .made = pp_custom_profiles_first,
    .holds_addresses = has_profiles,
    .after_fork = after_fork,
};
