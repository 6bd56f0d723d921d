/* SPDX-License-Identifier: MIT
 *
 * http_paths.h: what http_routes.c chooses from. Each function begins to answer a request for its
 * path.
 *
 * Zone: NORMAL.
 * Locks: one, in http_profile.c, while the change since the last request is computed.
 * Owns: for each delta_NAME the profile that the last request has seen. The compressed page is a
 * constant of libpprof-http.
 */
#ifndef PP_WEB_HTTP_PATHS_H
#define PP_WEB_HTTP_PATHS_H

#include "web/http_answer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The page that lists the profiles. It needs no script and nothing from elsewhere. */
void pp_http_index(pprof_http_answer *answer);

/* The page that shows a profile (docs/PAGE.md); the browser then fetches the profile that the query
 * names (`profile`, `seconds`). A program without libpprof-http, which has the page, has none. */
void pp_http_page(pprof_http_answer *answer);

/* Sets that page. `gzip` stays valid for ever. */
void pp_http_page_set(const void *gzip, size_t size);

/* The program's arguments, with a NUL between two. */
void pp_http_command_line(pprof_http_answer *answer);

/* "num_symbols: 1", then "0xADDRESS name" for each address of the query "0xA+0xB", or of the body
 * of a POST, whose function is known. */
void pp_http_symbol(pprof_http_answer *answer);

/* The profiles that have a name [net/http/pprof handler], as they are now, and what changed in a
 * time: NAME (with `debug`, `gc`, `seconds`, `rate`) or delta_NAME. */
void pp_http_profile(pprof_http_answer *answer);

/* In the child of fork: the thread that computed a change is not there. */
void pp_http_profile_after_fork_in_child(void);

enum { PP_HTTP_SECONDS = 30 /* if the request names none, as in Go */ };

/* A profile of a time that begins with the request; false if the answer's name is not that of a
 * timed profile. */
bool pp_http_timed(pprof_http_answer *answer);

/* Nanoseconds; a time that is longer than 64 bits can hold is the longest that they can. */
uint64_t pp_http_seconds_to_ns(int64_t seconds);

#endif
