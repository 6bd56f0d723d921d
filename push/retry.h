/* SPDX-License-Identifier: MIT
 *
 * retry.h: what an answer means for the profiles of its request, and when to try again.
 */
#ifndef PUSH_RETRY_H
#define PUSH_RETRY_H

#include "push/format.h"

#include <stdint.h>

typedef enum push_verdict {
    PUSH_SENT,  /* the server has them */
    PUSH_LATER, /* the same request may succeed later */
    PUSH_NEVER  /* it will be refused again */
} push_verdict;

/* No answer, 408, 425, 429, most of 5xx, redirects, refused tokens, and a 2xx that is not the server's
 * (a proxy's page) are for later. */
push_verdict push_judge(const push_format *format, const push_answer *answer);

/* How long to wait after `failures` in a row, 1 or more: doubled from 1 s to 60 s, of which chance
 * takes up to a half off. Not shorter than the server asks for, if that is an hour at most. */
uint64_t push_backoff_ns(unsigned failures, int64_t retry_after_s, uint64_t chance);

#endif
