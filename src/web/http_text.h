/* SPDX-License-Identifier: MIT
 *
 * http_text.h: the texts of kinds that are no profiles (pp_kind_text): `deadlock`.
 *
 * Zone: NORMAL.
 */
#ifndef PP_WEB_HTTP_TEXT_H
#define PP_WEB_HTTP_TEXT_H

#include "web/http_answer.h"

/* Begins to answer if the answer's name is that of a text; else false. */
bool pp_http_text(pprof_http_answer *answer);

#endif
