/* SPDX-License-Identifier: MIT
 *
 * control_line.h: answers a line of the control socket (docs/CONTROL.md).
 *
 *   configure OPTIONS    pprof_configure(), then as `status`
 *   status               what the process is, and what it records
 *   hold                 no answer: the attachment ends with the connection, if it is the last one
 *   detach               the attachment ends; answers as `status`
 *   anything else        a path after /debug/pprof/, with its query
 *
 * Zone: NORMAL. The line comes from the process's user.
 * Owns: the function that configures.
 */
#ifndef PP_WEB_CONTROL_LINE_H
#define PP_WEB_CONTROL_LINE_H

#include "base/text.h"

#include "pprof_http.h"

#include <stdint.h>

/* Called once, when the library is loaded: `by` is pprof_configure(), which also copies the
 * first complaint about the options. */
void pp_control_line_init(int (*by)(const char *options, pp_text *complaint));

/* pprof_http_begin() of a line, which has no control characters. */
int pp_control_line_ask(const char *line, pprof_http_answer **answer, uint64_t *wait_ns);

#endif
