/* SPDX-License-Identifier: MIT
 *
 * source_requests.h: several requests to one process or server at the same time.
 *
 * Owns: nothing; a request's answer is the caller's.
 */
#ifndef CP_SOURCE_REQUESTS_H
#define CP_SOURCE_REQUESTS_H

#include "base/message.h"
#include "profile/protobuf.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct cp_request {
    char *source;
    bool takes_time; /* the answer comes after some seconds */
    cp_bytes answer;
    int status; /* 0, or -1 with a sentence */
    cp_error error;
    bool is_threaded;
    pthread_t thread;
} cp_request;

/* Asks those that take time together, then the others. This thread asks the first of them, and shows
 * the progress. Returns whether all have an answer. */
bool cp_requests_ask(cp_request *requests, size_t count);

#endif
