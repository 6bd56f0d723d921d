/* SPDX-License-Identifier: MIT
 *
 * fetch.h: profiles from servers.
 *
 *   http://HOST:PORT/PATH, https://...    without a PATH: /debug/pprof/profile
 *   unix:/SOCKET[:/PATH]                  HTTP over a socket of this machine
 *
 * A token is sent as "Authorization: Bearer TOKEN" if a file has it (token_file.h), and not to
 * another host that the server redirects to. libcurl does the work. It is loaded when it is needed first, so that the command runs without it.
 */
#ifndef CP_FETCH_H
#define CP_FETCH_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cp_bytes cp_bytes;
typedef struct cp_error cp_error;

/* Whether the name of a source is that of a server. */
bool cp_fetch_is_url(const char *source);

/* Appends what the server answers, at most `limit` bytes. Waits as long as the profile takes
 * (seconds=N in the URL), and a minute. Returns 0, or -1 with a sentence that begins with the
 * source. */
int cp_fetch(const char *source, size_t limit, cp_bytes *bytes, cp_error *error);

#endif
