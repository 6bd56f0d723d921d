/* SPDX-License-Identifier: MIT
 *
 * http_site.c: see http_site.h.
 *
 * Zone: NORMAL.
 * Tested by: e2e.http_server, e2e.http_guest, page.browser
 */
#include "web/http_site.h"

#include <string.h>
#include <strings.h>

/* The value of a header; NULL: the request has no such header, or its server does not tell. */
static const char *header_of(const pprof_http_request *request, const char *name)
{
    for (size_t i = 0; i < request->header_count; i++) {
        if (strcasecmp(request->headers[i].name, name) == 0) {
            return request->headers[i].value;
        }
    }
    return NULL;
}

/* Whether "SCHEME://HOST", with a path after it or without, has this host. */
static bool is_at_host(const char *url, const char *host)
{
    const char *after_scheme = strstr(url, "://");
    if (after_scheme == NULL || host == NULL) {
        return false;
    }
    const char *found = after_scheme + 3;
    size_t length = strcspn(found, "/?#");
    return length == strlen(host) && strncasecmp(found, host, length) == 0;
}

/* What the browser says of the site comes before the origin: a proxy may have changed the host. */
static bool is_from_own_page(const pprof_http_request *request)
{
    const char *site = header_of(request, "Sec-Fetch-Site");
    const char *origin = header_of(request, "Origin");
    if (site != NULL) {
        return strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0;
    }
    return origin == NULL || is_at_host(origin, header_of(request, "Host"));
}

pp_http_site pp_http_site_of(const pprof_http_request *request)
{
    if (request->size < sizeof *request || request->header_count == 0) {
        return PP_HTTP_OWN_SITE;
    }
    const char *destination = header_of(request, "Sec-Fetch-Dest");
    bool is_whole_url = *request->target != '/';
    if (is_from_own_page(request) &&
        (!is_whole_url || is_at_host(request->target, header_of(request, "Host")))) {
        return PP_HTTP_OWN_SITE;
    }
    return destination != NULL && strcmp(destination, "document") != 0 ? PP_HTTP_EMBEDDED
                                                                       : PP_HTTP_LINKED;
}
