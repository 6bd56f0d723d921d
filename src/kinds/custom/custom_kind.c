/* SPDX-License-Identifier: MIT
 *
 * custom_kind.c: the kind "custom": the program's own profiles, which no option starts; and
 * pprof_new_profile().
 *
 * The name is the key of a profile. It is in the first line of a text, and in a path of the HTTP
 * server.
 *
 * Zone: NORMAL.
 * Tested by: unit.custom_profiles, e2e.profiles
 */
#include "host/kind.h"
#include "kinds/custom/custom_profiles.h"
#include "modules/modules.h"
#include "output/prepare.h"

#include "pprof.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* ---- new profiles ---- */

enum { MAX_NAME = 1023 /* bytes */ };

/* Paths of the HTTP server that are no kind's, some of them Go's; and the prefix of others. */
static const char *const taken[] = {"cmdline", "flame", "symbol", "trace"};
static const char taken_prefix[] = "delta_";

static bool is(const char *name, const char *other)
{
    return other != NULL && strcmp(name, other) == 0;
}

static bool is_of_kind(const char *name, const pp_kind *kind)
{
    for (const pprof_profile *p = kind->profiles; p != NULL && p->name != NULL; p++) {
        if (is(name, p->name) || is(name, p->alias)) {
            return true;
        }
    }
    return (kind->timed != NULL && is(name, kind->timed->name)) ||
           (kind->text != NULL && is(name, kind->text->name));
}

static bool is_built_in(const char *name)
{
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        if (is_of_kind(name, pp_kinds[i])) {
            return true;
        }
    }
    return false;
}

/*
 * Checks a name. 0, -EINVAL (NULL, empty, with white space or control characters), -ENAMETOOLONG,
 * or -EEXIST for the name of a built-in profile, whether that exists now or not, and for a path
 * that the HTTP server uses for something else.
 */
static int check(const char *name)
{
    if (name == NULL || *name == '\0') {
        return -EINVAL;
    }
    size_t length = strlen(name);
    if (length > MAX_NAME) {
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

pprof_profile *pprof_new_profile(const char *name)
{
    int error = check(name);
    pprof_profile *profile = NULL;
    if (error == 0) {
        pp_prepare_walks();
        pp_modules_refresh();
        profile = pp_custom_profile_new(name, &error);
    }
    if (profile == NULL) {
        errno = -error;
    }
    return profile;
}

/* ---- the kind ---- */

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
