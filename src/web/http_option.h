/* SPDX-License-Identifier: MIT
 *
 * http_option.h: the options `http` and `http-token`: a server in a program that knows nothing of
 * it. libpprof-http is loaded when one is asked for.
 *
 * Zone: NORMAL.
 * Locks: callers hold the lock of all_kinds.h; the loader's, while libpprof-http is loaded.
 * Owns: the address and the path that were asked for.
 */
#ifndef PP_WEB_HTTP_OPTION_H
#define PP_WEB_HTTP_OPTION_H

/* Take the value of an option. 0, or -EINVAL if it is NULL or too long, or has no colon where an
 * address must have one. */
int pp_http_option_take_address(const char *value);
int pp_http_option_take_token(const char *value);

/* Starts the server that was asked for, if any, and forgets it. 0, or -errno, which is also on the
 * log. */
int pp_http_option_start(void);

#endif
