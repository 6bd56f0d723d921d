/* SPDX-License-Identifier: MIT
 *
 * http_events.h: the functions of libpprof-http that libpprof calls (include/pprof_http_door.h).
 *
 * Zone: NORMAL.
 * Owns: nothing; the functions are constants.
 */
#ifndef PP_WEB_HTTP_EVENTS_H
#define PP_WEB_HTTP_EVENTS_H

#include "pprof_http_door.h"

#include <stdbool.h>
#include <stddef.h>

void pp_http_events_set(const pprof_http_events *events);

/* NULL: the library is not there, or serves nothing yet. */
const pprof_http_events *pp_http_events(void);

/* Stores where /debug/pprof/ is served; false if it is not, or the address does not fit. */
bool pp_http_events_address(char *buffer, size_t capacity);

#endif
