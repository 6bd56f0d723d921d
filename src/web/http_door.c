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
#include "host/deadline.h"
#include "host/thread_life.h"
#include "web/http_answer.h"
#include "web/http_page.h"
#include "web/http_profile.h"
#include "web/http_rate.h"
#include "sys/log.h"
#include "sys/own_files.h"

#include "pprof_http_door.h"

static const pprof_http_events *server; /* NULL: there is none */

static void listen_to(const pprof_http_events *events)
{
    pp_own_files_ask(events->has_descriptor);
    __atomic_store_n(&server, events, __ATOMIC_RELEASE);
}

static void log_message(const char *message)
{
    pp_text text = PP_TEXT_INIT;
    pp_text_add(&text, message);
    pp_log(&text);
}

/* NOLINTNEXTLINE(readability-identifier-naming): another version has another name */
__attribute__((visibility("default"))) const pprof_http_door pprof_http_door_2 = {
    .version = PPROF_HTTP_DOOR_VERSION,
    .listen = listen_to,
    .set_page = pp_http_page_set,
    .leave_profiles = pp_thread_leave,
    .is_alone = pp_deadline_is_alone,
    .are_same = pp_http_answers_are_same,
    .log = log_message,
};

void pp_http_door_after_fork_in_child(void)
{
    pp_http_rate_after_fork_in_child();
    pp_http_profile_after_fork_in_child();
    const pprof_http_events *events = __atomic_load_n(&server, __ATOMIC_ACQUIRE);
    if (events != NULL) {
        events->after_fork_in_child();
    }
}

void pp_http_door_before_confinement(void)
{
    const pprof_http_events *events = __atomic_load_n(&server, __ATOMIC_ACQUIRE);
    if (events != NULL) {
        events->before_confinement();
    }
}
