/* SPDX-License-Identifier: MIT
 *
 * server_library.h: symbols of libpprof-http and libpprof-push, in a program that is not linked to
 * them.
 *
 * Zone: NORMAL.
 * Locks: the loader's.
 */
#ifndef PP_WEB_SERVER_LIBRARY_H
#define PP_WEB_SERVER_LIBRARY_H

#define PP_HTTP_LIBRARY "libpprof-http.so.0"
#define PP_PUSH_LIBRARY "libpprof-push.so.0"

/* Loads the library, for good, and finds a symbol of it. NULL: `refusal` and the reason are on the
 * log. */
const void *pp_server_library_find(const char *library, const char *symbol, const char *refusal);

#endif
