/* SPDX-License-Identifier: MIT
 *
 * http_index.h: the page that lists the profiles. It needs no script and nothing from elsewhere.
 *
 * Zone: NORMAL.
 */
#ifndef PP_WEB_HTTP_INDEX_H
#define PP_WEB_HTTP_INDEX_H

#include "web/http_answer.h"

void pp_http_index(pprof_http_answer *answer);

#endif
