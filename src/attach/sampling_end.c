/* SPDX-License-Identifier: MIT
 *
 * sampling_end.c: see sampling_end.h.
 *
 * Zone: NORMAL.
 * Tested by: e2e.attached
 */
#include "attach/sampling_end.h"

#include "arch/system_call.h"
#include "host/sampling_handler.h"
#include "sys/sampling_signal.h"
#include "sys/task_state.h"
#include "sys/tasks.h"

#include <stddef.h>
#include <time.h>

/* A thread takes a pending signal when it next runs. One that blocks the signal may never do so. */
enum { ROUNDS = 200, PAUSE_NS = 5 * 1000 * 1000 };

typedef struct look {
    char status[PP_TASK_STATUS_BYTES];
    bool any;
} look;

static void look_at(int tid, void *context)
{
    look *l = context;
    l->any = l->any || pp_task_has_pending(tid, PP_SAMPLING_SIGNAL, l->status);
}

static bool is_one_listed(void)
{
    char directory[4096] __attribute__((aligned(16)));
    look l = {.any = false};
    int seen = pp_tasks_each(directory, sizeof directory, look_at, &l);
    return l.any || seen < 0 || (unsigned)seen < pp_tasks_count();
}

/* Looks twice, since a thread that one listing has left out is in the next one. */
static bool is_any_pending(void)
{
    bool pending = is_one_listed();
    return pending || is_one_listed();
}

bool pp_sampling_end(void)
{
    static const struct timespec pause = {.tv_nsec = PAUSE_NS};
    if (!pp_sampling_handler_installed()) {
        return true;
    }
    for (int i = 0; is_any_pending(); i++) {
        if (i == ROUNDS) {
            return false;
        }
        pp_system_call(SYS_nanosleep, &pause, NULL);
    }
    pp_sampling_handler_remove();
    return true;
}
