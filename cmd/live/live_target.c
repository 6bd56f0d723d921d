/* SPDX-License-Identifier: MIT
 *
 * live_target.c: see live_target.h.
 *
 * Tested by: e2e.cpprof_live.
 */
#include "live/live_target.h"

#include "ask/control.h"
#include "ask/process_files.h"
#include "ask/fetch.h"
#include "ask/source_root.h"
#include "base/message.h"
#include "base/pool.h"
#include "live/live_process.h"
#include "live/live_views.h"

#include <stdbool.h>
#include <stdlib.h>

static bool is_process(const char *text)
{
    return (*text >= '0' && *text <= '9') || cp_control_is_process(text);
}

/* Stores the name of the profile, NULL if there is none. */
static int read_process(const char *text, cp_live_target *target, const char **profile,
                        cp_error *error)
{
    const char *rest = "";

    if (cp_control_pid(text, &target->pid, &rest, error) < 0) {
        return -1;
    }
    target->root = cp_heap_printf("pid:%d", target->pid);
    *profile = *rest && rest[1] ? rest + 1 : NULL;
    return 0;
}

static int read_server(const char *text, cp_live_target *target, cp_error *error)
{
    if (!cp_fetch_is_url(text)) {
        return cp_fail(error,
                       "expected the number of a process, or the address of a server such as "
                       "http://HOST:PORT, found %.500s",
                       text);
    }
    target->root = cp_source_root(text);
    return target->root
               ? 0
               : cp_fail(error, "expected the address of a server, found that of one profile: %s",
                         text);
}

int cp_live_target_read(const char *text, const char *profile, const char *type,
                        cp_live_target *target, cp_error *error)
{
    const char *named = NULL;

    *target = (cp_live_target){0, NULL, 0};
    int status = is_process(text) ? read_process(text, target, &named, error)
                                  : read_server(text, target, error);
    return status < 0 ? -1
                      : cp_live_view_find(profile ? profile : named, type, &target->view, error);
}

void cp_live_target_release(cp_live_target *target)
{
    free(target->root);
    target->root = NULL;
}

char *cp_live_target_name(const cp_live_target *target)
{
    char *command = target->pid ? cp_process_command(target->pid) : NULL;
    char *name = !target->pid ? cp_heap_printf("%s", target->root)
                              : cp_heap_printf("%d %s", target->pid, command ? command : "");

    free(command);
    return name;
}
