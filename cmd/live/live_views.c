/* SPDX-License-Identifier: MIT
 *
 * live_views.c: see live_views.h.
 *
 * Tested by: unit.cmd_live_state.
 */
#include "live/live_views.h"

#include "base/message.h"
#include "base/pool.h"

#include <stdbool.h>
#include <string.h>

const cp_live_view cp_live_views[CP_LIVE_VIEWS] = {
    {"cpu", "profile", "cpu samples", NULL, CP_LIVE_SAMPLED},
    {"heap in use", "heap", "inuse_space inuse_objects", "heap", CP_LIVE_LEVELS},
    {"allocations", "allocs", "alloc_space alloc_objects", "heap", CP_LIVE_SUMS},
    {"block", "block", "delay contentions", "block:1", CP_LIVE_SUMS},
    {"mutex", "mutex", "delay contentions", "mutex:1", CP_LIVE_SUMS},
    {"threads", "thread", "thread", NULL, CP_LIVE_LEVELS},
    {"wall", "wall", "wall", NULL, CP_LIVE_SAMPLED},
};

static bool has_type(const cp_live_view *view, const char *type)
{
    size_t length = strlen(type);

    for (const char *at = view->types; *at; at += strcspn(at, " ")) {
        at += *at == ' ';
        if (strcspn(at, " ") == length && strncmp(at, type, length) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_named(const cp_live_view *view, const char *profile)
{
    return strcmp(view->profile, profile) == 0 ||
           (strcmp(profile, "cpu") == 0 && view == cp_live_views);
}

int cp_live_view_find(const char *profile, const char *type, size_t *view, cp_error *error)
{
    for (size_t i = 0; i < CP_LIVE_VIEWS; i++) {
        const cp_live_view *v = &cp_live_views[i];
        if ((!profile || is_named(v, profile)) && (!type || has_type(v, type))) {
            *view = i;
            return 0;
        }
    }
    return cp_fail(error,
                   "expected one of the profiles cpu, heap, allocs, block, mutex, thread and wall, "
                   "and a sample type of it, found %.200s%s%.200s",
                   profile ? profile : "", profile && type ? " with " : "", type ? type : "");
}

char *cp_live_view_type(const cp_live_view *view, const char *wanted)
{
    if (wanted && has_type(view, wanted)) {
        return cp_heap_copy(wanted, strlen(wanted));
    }
    return cp_heap_copy(view->types, strcspn(view->types, " "));
}
