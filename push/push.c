/* SPDX-License-Identifier: MIT
 *
 * push.c: opens a sender to a URL, by libcurl.
 *
 * Tested by: e2e.push
 */
#include "push/push.h"

#include "push/curl.h"
#include "push/guess.h"
#include "push/sender.h"
#include "push/target.h"

#include <errno.h>
#include <stdio.h>

/* A path of a server's own at the end of the URL says what to send. */
static int choose(const char *to, push_target *target, const push_format **format,
                  char why[PUSH_WHY_BYTES])
{
    *format = to != NULL ? push_format_named(to) : NULL;
    if (to != NULL && *format == NULL) {
        snprintf(why, PUSH_WHY_BYTES, "expected pyroscope, parca or otlp, found %.100s", to);
        return -EINVAL;
    }
    for (size_t i = 0; push_formats[i] != NULL; i++) {
        if (push_target_cut(target, push_formats[i]->path) && *format == NULL) {
            *format = push_formats[i];
        }
    }
    return 0;
}

int push_open(const push_settings *settings, push_sender **sender, char why[PUSH_WHY_BYTES])
{
    push_target target;
    const push_format *format = NULL;
    push_transport transport;
    int error = push_target_parse(settings->url, &target, why);
    error = error == 0 ? choose(settings->to, &target, &format, why) : error;
    error = error == 0 ? push_curl_open(settings, &target, &transport, why) : error;
    return error == 0 ? push_sender_open(settings, format, &transport, sender, why) : error;
}
