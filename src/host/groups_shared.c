/* SPDX-License-Identifier: MIT
 *
 * groups_shared.c: setgroups and initgroups (host/identity.c).
 *
 * libc.a has no second name for setgroups, and a static program that looks groups up is warned by
 * the linker: libpprof_static.a does without this file. What it lacks then is small: our threads
 * have the capabilities of the program's, so the kernel allows them the same groups.
 *
 * libc's initgroups() calls its setgroups() past every hook, and may wait for a server of names
 * before that. So this one asks for the groups first, and our threads pause only while they are
 * set.
 *
 * Zone: NORMAL.
 * Locks: those of pausable.c.
 * Tested by: e2e.identity
 */
#include "base/memory.h"
#include "host/hooks.h"
#include "host/pausable.h"
#include "host/real.h"

#include <errno.h>
#include <grp.h>
#include <stddef.h>
#include <unistd.h>

enum { GROUPS_MAX = 65536 /* NGROUPS_MAX of the kernel since 2.6.4 */ };

typedef int groups_function(size_t, const gid_t *);
typedef int init_function(const char *, gid_t);

static struct {
    void *setgroups;
    void *initgroups;
} real_functions;

/* libc's header has its own name. */
__attribute__((visibility("default"))) int
setgroups(/* NOLINT(readability-inconsistent-declaration-parameter-name) */
          size_t count, const gid_t *groups)
{
    groups_function *real = (groups_function *)pp_real(&real_functions.setgroups, "setgroups");
    pp_identity_change change;
    if (real == NULL) {
        errno = ENOSYS;
        return -1;
    }
    pp_identity_begin(&change);
    int result = real(count, groups);
    pp_identity_end(&change);
    return result;
}

/* As libc does it: as many as an old kernel takes. */
static int set_most(int count, const gid_t *groups)
{
    int result = setgroups((size_t)count, groups);
    while (result != 0 && errno == EINVAL && --count > 0) {
        result = setgroups((size_t)count, groups);
    }
    return result;
}

static int set_groups_of(const char *user, gid_t group)
{
    int count = GROUPS_MAX;
    gid_t *groups = pp_memory_map(GROUPS_MAX * sizeof *groups);
    if (groups == NULL) {
        errno = ENOMEM;
        return -1;
    }
    int result = -1;
    if (getgrouplist(user, group, groups, &count) >= 0) {
        result = set_most(count, groups);
    }
    int saved_errno = errno;
    pp_memory_unmap(groups, GROUPS_MAX * sizeof *groups);
    errno = saved_errno;
    return result;
}

__attribute__((visibility("default"))) int initgroups(const char *user, gid_t group)
{
    init_function *real = (init_function *)pp_real(&real_functions.initgroups, "initgroups");
    if (pp_pausables_concern_caller()) {
        return set_groups_of(user, group);
    }
    if (real == NULL) {
        errno = ENOSYS;
        return -1;
    }
    return real(user, group);
}
