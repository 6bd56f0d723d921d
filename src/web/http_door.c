/* SPDX-License-Identifier: MIT
 *
 * http_door.c: what libpprof does for the server in libpprof-http, and tells it.
 *
 * Zone: NORMAL.
 * Owns: nothing; the server's functions are constants.
 * Tested by: e2e.http_guest
 */
#include "web/http_door.h"

#include "base/text.h"
#include "host/worker.h"
#include "host/pausable.h"
#include "modules/loader_use.h"
#include "web/control_routes.h"
#include "web/http_answer.h"
#include "web/http_events.h"
#include "web/http_paths.h"
#include "web/http_rate.h"
#include "symbol/known_names.h"
#include "sys/apart.h"
#include "sys/log.h"
#include "sys/sandbox.h"

#include "pprof_http_door.h"

static void log_message(const char *message)
{
    pp_text text = PP_TEXT_INIT;
    pp_text_add(&text, message);
    pp_log(&text);
}

static bool may_leave_table(void)
{
    pp_sandbox_probe();
    return pp_apart_may_leave();
}

/* The probe finds out whether the thread may open files apart. */
static int begin_thread(const pprof_http_thread *thread)
{
    pp_sandbox_probe();
    const pp_pausable what = {.name = thread->name,
                              .stack_bytes = thread->stack_bytes,
                              .stays = true,
                              .run = thread->run,
                              .wake = thread->wake,
                              .lost = thread->lost,
                              .context = thread->context};
    return pp_pausable_begin(&what);
}

/* NOLINTNEXTLINE(readability-identifier-naming): another version has another name */
__attribute__((visibility("default"))) const pprof_http_door pprof_http_door_5 = {
    .version = PPROF_HTTP_DOOR_VERSION,
    .listen = pp_http_events_set,
    .set_page = pp_http_page_set,
    .begin_thread = begin_thread,
    .end_thread = pp_pausable_end,
    .pauses = pp_pausables_pause,
    .waits = pp_loader_wait,
    .leave_table = pp_apart_leave,
    .may_leave_table = may_leave_table,
    .is_alone = pp_worker_is_alone,
    .are_same = pp_http_answers_are_same,
    .log = log_message,
    .begin_control = pp_control_begin,
};

void pp_http_door_after_fork_in_child(void)
{
    pp_http_rate_after_fork_in_child();
    pp_http_profile_after_fork_in_child();
    pp_known_names_after_fork_in_child();
    const pprof_http_events *events = pp_http_events();
    if (events != NULL) {
        events->after_fork_in_child();
    }
}

void pp_http_door_before_confinement(void)
{
    const pprof_http_events *events = pp_http_events();
    if (events != NULL) {
        events->before_confinement();
    }
    pp_known_names_forget();
}

void pp_http_door_before_exec(void)
{
    const pprof_http_events *events = pp_http_events();
    if (events != NULL) {
        events->before_exec();
    }
}

void pp_http_door_at_end(void)
{
    const pprof_http_events *events = pp_http_events();
    if (events != NULL) {
        events->at_end();
    }
}
