/* SPDX-License-Identifier: MIT
 *
 * transport.h: what a sender needs of the world: a server that answers, a clock, and chance. curl.c is
 * the real one; tests have one whose time they set.
 */
#ifndef PUSH_TRANSPORT_H
#define PUSH_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct push_request {
    const char *path; /* begins with '/'; follows the URL of the settings */
    const char *content_type;
    const void *body;
    size_t size;
} push_request;

enum { PUSH_REASON_BYTES = 1024, PUSH_TYPE_BYTES = 64 }; /* Alloy names all labels first */

typedef struct push_answer {
    int status;                     /* of HTTP; 0: no answer came */
    char reason[PUSH_REASON_BYTES]; /* why none came; or the first words of the answer, printable */
    char content_type[PUSH_TYPE_BYTES]; /* "" if it has none */
    int64_t retry_after_s;              /* 0: the server does not say */
} push_answer;

typedef struct push_transport {
    /* Sends the request by POST and waits for the answer. 0; or -EAGAIN: it was `until_ns`, or wake()
     * was called; the same request goes on at the next call. */
    int (*exchange)(void *context, const push_request *request, push_answer *answer,
                    uint64_t until_ns);
    /* Waits until `until_ns`, or for wake(). */
    void (*wait)(void *context, uint64_t until_ns);
    void (*wake)(void *context); /* on any thread */
    /* Closes what belongs to the calling thread: its descriptors. The next call opens it again, also on
     * another thread. A request under way is forgotten. */
    void (*park)(void *context);
    void (*close)(void *context);
    uint64_t (*now_ns)(void *context); /* monotonic */
    uint64_t (*chance)(void *context); /* a random number */
    void *context;
} push_transport;

#endif
