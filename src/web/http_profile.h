/* SPDX-License-Identifier: MIT
 *
 * http_profile.h: the profiles that have a name [net/http/pprof handler], as they are now, and what
 * changed in a time.
 *
 * Zone: NORMAL.
 * Locks: one, while the change since the last request is computed.
 * Owns: for each delta_NAME the profile that the last request has seen.
 */
#ifndef PP_WEB_HTTP_PROFILE_H
#define PP_WEB_HTTP_PROFILE_H

#include "web/http_answer.h"

/* Begins to answer NAME (with `debug`, `gc`, `seconds`, `rate`) or delta_NAME. */
void pp_http_profile(pprof_http_answer *answer);

/* In the child of fork: the thread that computed a change is not there. */
void pp_http_profile_after_fork_in_child(void);

#endif
