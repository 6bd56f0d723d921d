/* SPDX-License-Identifier: MIT
 *
 * http_timed.h: profiles of a time that begins with the request: the CPU profile.
 *
 * Zone: NORMAL.
 */
#ifndef PP_WEB_HTTP_TIMED_H
#define PP_WEB_HTTP_TIMED_H

#include "web/http_answer.h"

enum { PP_HTTP_SECONDS = 30 /* if the request names none, as in Go */ };

/* Begins to answer if the answer's name is that of a timed profile; else false. */
bool pp_http_timed(pprof_http_answer *answer);

/* Nanoseconds; a time that is longer than 64 bits can hold is the longest that they can. */
uint64_t pp_http_seconds_to_ns(int64_t seconds);

#endif
