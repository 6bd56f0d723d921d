/* SPDX-License-Identifier: MIT
 *
 * control_routes.h: the paths that only the control socket has (docs/CONTROL.md).
 *
 *   GET  /control/status       what the process is, and what it records
 *   POST /control/configure    pprof_configure() of the body, then as `status`
 *   POST /control/hold         no answer: the attachment ends with the connection, if it is the last one
 *   POST /control/stay         the attachment does not end with those that hold it; as `status`
 *   POST /control/detach       the attachment ends; as `status`
 *
 * Zone: NORMAL. The request comes from the process's user.
 * Owns: the function that configures.
 */
#ifndef PP_WEB_CONTROL_ROUTES_H
#define PP_WEB_CONTROL_ROUTES_H

#include "base/text.h"

#include "pprof_http.h"

#include <stdint.h>

/* Called once, when the library is loaded: `by` is pprof_configure(), which also copies the
 * first complaint about the options. */
void pp_control_routes_init(int (*by)(const char *options, pp_text *complaint));

/* pprof_http_begin() for a client of the control socket. */
int pp_control_begin(const pprof_http_request *request, pprof_http_answer **answer,
                     uint64_t *wait_ns);

#endif
