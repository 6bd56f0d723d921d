/* SPDX-License-Identifier: MIT
 *
 * profiles.c: finds profiles by name, and lists them in the order of names: the built-in profiles
 * of the kinds, and those that the program has made.
 *
 * Zone: NORMAL.
 * Tested by: e2e.profiles, e2e.api
 */
#include "pprof.h"

#include "output/count.h"
#include "host/kind.h"
#include "profile/value_rows.h"
#include "modules/modules.h"
#include "sys/sanitizers.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

/* ---- built in ---- */

static bool is_there(const pprof_profile *profile)
{
    return profile->is_there == NULL || profile->is_there();
}

/* Finds a built-in profile, even one that is not there now (pprof_profile.is_there). */
static const pprof_profile *find_built_in(const char *name)
{
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        const pprof_profile *p = pp_kinds[i]->profiles;
        for (; p != NULL && p->name != NULL; p++) {
            if (strcmp(p->name, name) == 0) {
                return p;
            }
        }
    }
    return NULL;
}

bool pp_profile_is_off(const char *name)
{
    const pprof_profile *profile = find_built_in(name);
    return profile != NULL && !is_there(profile);
}

/* The next profile after `name` in the order of names, of those that are there and listed; NULL:
 * there is none. */
static const pprof_profile *next_built_in(const char *name)
{
    const pprof_profile *next = NULL;
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        const pprof_profile *p = pp_kinds[i]->profiles;
        for (; p != NULL && p->name != NULL; p++) {
            if (strcmp(p->name, name) > 0 && (next == NULL || strcmp(p->name, next->name) < 0) &&
                !p->unlisted && is_there(p)) {
                next = p;
            }
        }
    }
    return next;
}

/* ---- the program's own ---- */

/* The first profile of a list that is ordered by name; NULL: there is none. */
static pprof_profile *first_made(void)
{
    size_t i = 0;
    while (pp_kinds[i] != NULL && pp_kinds[i]->made == NULL) {
        i++;
    }
    return pp_kinds[i] != NULL ? pp_kinds[i]->made() : NULL;
}

static pprof_profile *next_made(const pprof_profile *profile)
{
    return __atomic_load_n(&profile->next, __ATOMIC_ACQUIRE);
}

static pprof_profile *find_made(const char *name)
{
    pprof_profile *profile = first_made();
    while (profile != NULL && strcmp(profile->name, name) != 0) {
        profile = next_made(profile);
    }
    return profile;
}

/* ---- both ---- */

/* The program's own profiles change. Nothing changes one that is built in. */
static pprof_profile *as_shown(const pprof_profile *built_in)
{
    return (pprof_profile *)(uintptr_t)built_in;
}

pprof_profile *pprof_lookup(const char *name)
{
    if (name == NULL) {
        return NULL;
    }
    const pprof_profile *profile = find_built_in(name);
    if (profile != NULL) {
        return is_there(profile) ? as_shown(profile) : NULL;
    }
    return find_made(name);
}

size_t pprof_profiles(pprof_profile **profiles, size_t capacity)
{
    size_t count = 0;
    pprof_profile *made = first_made();
    for (const pprof_profile *p = next_built_in(""); p != NULL || made != NULL; count++) {
        bool is_made = p == NULL || (made != NULL && strcmp(made->name, p->name) < 0);
        if (profiles != NULL && count < capacity) {
            /* NOLINTNEXTLINE(bugprone-sizeof-expression): they are pointers */
            pp_sanitizers_write(&profiles[count], sizeof *profiles);
            profiles[count] = is_made ? made : as_shown(p);
        }
        if (is_made) {
            made = next_made(made);
        } else {
            p = next_built_in(p->name);
        }
    }
    return count;
}

/* ---- one profile ---- */

const char *pprof_profile_name(const pprof_profile *profile)
{
    return profile != NULL ? profile->name : NULL;
}

size_t pprof_profile_count(pprof_profile *profile)
{
    if (profile == NULL) {
        return 0;
    }
    return profile->count != NULL ? profile->count() : pp_value_table_count(profile->values);
}

static int write_values(const pprof_profile *profile, pprof_writer writer, int debug)
{
    pp_arena arena = PP_ARENA_INIT;
    pp_value_rows rows = {.count = 0};
    int error = pp_value_rows_read(profile->values, &arena, &rows);
    if (error == 0) {
        error = pp_count_write(profile->name, rows.list, rows.count, debug, writer);
    }
    pp_value_rows_release(&rows);
    pp_arena_release(&arena);
    return error;
}

int pprof_profile_write(pprof_profile *profile, pprof_writer writer, int debug)
{
    if (profile == NULL || writer.write == NULL || debug < PPROF_DEBUG_BARE) {
        return -EINVAL;
    }
    if (profile->before_write != NULL) {
        profile->before_write();
    }
    int cancel_state = PTHREAD_CANCEL_DISABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    pp_modules_refresh();
    int error = profile->write != NULL ? profile->write(writer, debug)
                                       : write_values(profile, writer, debug);
    pthread_setcancelstate(cancel_state, NULL);
    return error;
}
