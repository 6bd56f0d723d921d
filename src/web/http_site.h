/* SPDX-License-Identifier: MIT
 *
 * http_site.h: whether a browser has sent a request for a page of another site.
 *
 * Zone: NORMAL.
 */
#ifndef PP_WEB_HTTP_SITE_H
#define PP_WEB_HTTP_SITE_H

#include "web/http_answer.h"

#include "pprof_http.h"

/*
 * Reads the headers of a request: Host, Origin, Sec-Fetch-Site and Sec-Fetch-Dest [Fetch Metadata; as
 * net/http CrossOriginProtection]. What has none of these comes from no browser, or from an old one.
 * Another port of the same machine is another site: what listens there need not be the user's.
 */
pp_http_site pp_http_site_of(const pprof_http_request *request);

#endif
