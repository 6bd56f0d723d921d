/* SPDX-License-Identifier: MIT
 *
 * http_page.h: the page that shows a profile (docs/PAGE.md). libpprof-http has it, compressed; a
 * program without libpprof-http has none.
 *
 * Zone: NORMAL.
 * Owns: nothing; the compressed page is a constant of libpprof-http.
 */
#ifndef PP_WEB_HTTP_PAGE_H
#define PP_WEB_HTTP_PAGE_H

#include "web/http_answer.h"

#include <stddef.h>

/* Sets the page. `gzip` stays valid for ever. */
void pp_http_page_set(const void *gzip, size_t size);

/* The page; the browser then fetches the profile that the query names (`profile`, `seconds`). */
void pp_http_page(pprof_http_answer *answer);

#endif
