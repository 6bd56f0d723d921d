/* SPDX-License-Identifier: MIT
 *
 * profile_names.c: checks the name of a new profile against the kinds' names and a list of words.
 *
 * Zone: NORMAL.
 * Tested by: e2e.profiles
 */
#include "kinds/custom/profile_names.h"

#include "host/kind.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

static const char *const taken[] = {
    /* paths of the HTTP server, some of them Go's */
    "cmdline", "contention", "deadlock", "flame", "growth", "profile", "symbol", "trace"};

static bool is_built_in(const char *name)
{
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        const pprof_profile *p = pp_kinds[i]->profiles;
        for (; p != NULL && p->name != NULL; p++) {
            if (strcmp(p->name, name) == 0) {
                return true;
            }
        }
    }
    return false;
}

static const char taken_prefix[] = "delta_"; /* of further paths of the HTTP server */

int pp_profile_name_check(const char *name)
{
    if (name == NULL || *name == '\0') {
        return -EINVAL;
    }
    size_t length = strlen(name);
    if (length > PP_PROFILE_NAME_MAX) {
        return -ENAMETOOLONG;
    }
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)name[i] <= ' ' || name[i] == '\x7f') {
            return -EINVAL;
        }
    }
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        if (strcmp(name, taken[i]) == 0) {
            return -EEXIST;
        }
    }
    bool taken_anyway = is_built_in(name) || strncmp(name, taken_prefix, strlen(taken_prefix)) == 0;
    return taken_anyway ? -EEXIST : 0;
}
