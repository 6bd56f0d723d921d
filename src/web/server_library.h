/* SPDX-License-Identifier: MIT
 *
 * server_library.h: functions of libpprof-http, in a program that is not linked to it.
 *
 * Zone: NORMAL.
 * Locks: the loader's.
 */
#ifndef PP_WEB_SERVER_LIBRARY_H
#define PP_WEB_SERVER_LIBRARY_H

/* Loads the library, for good, and finds a function of it. NULL: `refusal` and the reason are on the
 * log. */
const void *pp_server_library_find(const char *symbol, const char *refusal);

#endif
