/* SPDX-License-Identifier: MIT
 *
 * target.h: the URL of a server, in its parts.
 *
 *   https://USER:PASSWORD@HOST:PORT/BASE/PATH-OF-THE-SERVER
 *                                   |          '- "/ingest", ...: says what to send; else it is chosen
 *                                   '- of a proxy; kept
 */
#ifndef PUSH_TARGET_H
#define PUSH_TARGET_H

#include "push/push.h"

enum { PUSH_URL_BYTES = 1024 };

typedef struct push_target {
    char url[PUSH_URL_BYTES];   /* without a slash at the end; may have a password */
    char shown[PUSH_URL_BYTES]; /* the same, without user and password: for messages */
    char host[256];             /* without brackets */
    char port[8];
} push_target;

/* 0, or -EINVAL with a sentence in `why`. */
int push_target_parse(const char *url, push_target *target, char why[PUSH_WHY_BYTES]);

/* If the URL ends with this path, removes it. */
bool push_target_cut(push_target *target, const char *path);

#endif
