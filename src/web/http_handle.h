/* SPDX-License-Identifier: MIT
 *
 * http_handle.h: pprof_http_begin() for those who find an answer in another way.
 *
 * Zone: NORMAL.
 */
#ifndef PP_WEB_HTTP_HANDLE_H
#define PP_WEB_HTTP_HANDLE_H

#include "pprof_http.h"

#include <stdint.h>

/* Begins to answer a target: pp_http_route() is one. */
typedef void pp_http_router(pprof_http_answer *answer, const char *target);

int pp_http_begin_by(pp_http_router *route, const pprof_http_request *request,
                     pprof_http_answer **answer, uint64_t *wait_ns);

#endif
