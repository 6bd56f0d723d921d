/* SPDX-License-Identifier: MIT
 *
 * sender.h: a sender whose transport the caller chooses (push.h).
 */
#ifndef PUSH_SENDER_H
#define PUSH_SENDER_H

#include "push/format.h"
#include "push/push.h"
#include "push/transport.h"

/* As push_open(). The sender takes the transport, also if it fails. NULL instead of a format: the
 * server is asked. */
int push_sender_open(const push_settings *settings, const push_format *format,
                     const push_transport *transport, push_sender **sender,
                     char why[PUSH_WHY_BYTES]);

#endif
