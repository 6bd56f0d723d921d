/* SPDX-License-Identifier: MIT
 *
 * server_library.h: functions of libpprof-http, in a program that is not linked to it.
 *
 * Zone: NORMAL.
 * Locks: the loader's.
 */
#ifndef PP_WEB_SERVER_LIBRARY_H
#define PP_WEB_SERVER_LIBRARY_H

#include "base/text.h"

/* Loads the library, for good, and finds a function of it. NULL, with a reason in *why. */
const void *pp_server_library_find(const char *symbol, pp_text *why);

#endif
