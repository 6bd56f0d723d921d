/* SPDX-License-Identifier: MIT
 *
 * http_events.c: see http_events.h.
 *
 * Zone: NORMAL.
 * Owns: nothing; the functions are constants.
 * Tested by: e2e.http_guest, e2e.control
 */
#include "web/http_events.h"

#include "sys/own_files.h"

static const pprof_http_events *server; /* NULL: there is none */

void pp_http_events_set(const pprof_http_events *events)
{
    pp_own_files_ask(events->has_descriptor);
    __atomic_store_n(&server, events, __ATOMIC_RELEASE);
}

const pprof_http_events *pp_http_events(void)
{
    return __atomic_load_n(&server, __ATOMIC_ACQUIRE);
}

bool pp_http_events_address(char *buffer, size_t capacity)
{
    const pprof_http_events *events = pp_http_events();
    return events != NULL && events->http_address(buffer, capacity) == 0;
}
