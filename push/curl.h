/* SPDX-License-Identifier: MIT
 *
 * curl.h: the transport by libcurl, which is loaded when it is needed: who pushes nothing needs none.
 *
 * A redirect is an answer like others: it is not followed, so nothing goes where the user did not send
 * it. The name of the server is looked up on the calling thread, since libcurl would create a thread
 * for that.
 *
 * Owns: libcurl, which stays loaded; the connection; a request under way.
 */
#ifndef PUSH_CURL_H
#define PUSH_CURL_H

#include "push/push.h"
#include "push/target.h"
#include "push/transport.h"

/* Copies what it needs. 0, or -errno with a sentence in `why`. */
int push_curl_open(const push_settings *settings, const push_target *target,
                   push_transport *transport, char why[PUSH_WHY_BYTES]);

#endif
