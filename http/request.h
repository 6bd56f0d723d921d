/* SPDX-License-Identifier: MIT
 *
 * request.h: reads the head of a request [RFC 9112], strictly: what is unusual is refused.
 *
 * The bytes come from anybody: see test/fuzz/fuzz_http_request.c.
 */
#ifndef PP_HTTP_REQUEST_H
#define PP_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

enum {
    REQUEST_HEAD_MAX = 16384,
    REQUEST_TARGET_MAX = 8192,
    REQUEST_BODY_MAX = 1 << 20 /* addresses for `symbol`: 50 000 of them */
};

/* The texts lie in the head. NULL: there is no such header. */
typedef struct request_head {
    const char *method, *target;
    const char *host, *authorization;
    const char *origin, *fetch_site, *fetch_destination; /* a browser tells whose page asks */
    size_t body_size;
    bool keeps_alive;
    bool expects_continue;
} request_head;

/*
 * Reads the head at the beginning of `length` bytes, and changes them: texts get a NUL at their
 * ends.
 *
 *   > 0    the length of the head, with its empty line
 *   0      it does not end in these bytes; they are unchanged
 *   < 0    the status of the refusal, negative: -400 (it is none), -413 (large body), -414 (long
 *          target), -431 (long head), -501 (Transfer-Encoding), -505 (another version)
 */
long request_read(char *bytes, size_t length, request_head *r);

/* The words that go with the status of an answer (RFC 9110). */
const char *request_reason(int status);

#endif
