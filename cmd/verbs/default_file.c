/* SPDX-License-Identifier: MIT
 *
 * default_file.c: see default_file.h.
 *
 * Tested by: e2e.cpprof_terminal.
 */
#include "verbs/default_file.h"

#include "base/message.h"
#include "profile/newest_profile.h"

#include <stddef.h>

char *cp_default_file(const char *verb)
{
    char *name = cp_newest_profile();

    if (name) {
        cp_complain("%s: %s, the newest profile in this folder", verb, name);
    } else {
        cp_bad_usage(verb,
                     "%s: expected FILE, found none, nor a *.pb.gz in this folder; `cpprof record "
                     "-- COMMAND` writes one",
                     verb);
    }
    return name;
}
