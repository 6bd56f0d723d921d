/* SPDX-License-Identifier: MIT
 *
 * http_routes.h: which part of the room answers which path.
 *
 * Zone: NORMAL.
 */
#ifndef PP_WEB_HTTP_ROUTES_H
#define PP_WEB_HTTP_ROUTES_H

#include "web/http_answer.h"

/* Reads the target of a request, and begins to answer it. The answer's method and body are set. */
void pp_http_route(pprof_http_answer *answer, const char *target);

#endif
