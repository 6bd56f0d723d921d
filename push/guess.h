/* SPDX-License-Identifier: MIT
 *
 * guess.h: finds out what kind of server it is: each kind's own path gets a request without profiles,
 * and only one kind of server answers that as it answers profiles.
 */
#ifndef PUSH_GUESS_H
#define PUSH_GUESS_H

#include "push/format.h"

typedef struct push_guess {
    size_t next; /* of push_formats[] */
    const push_format *found;
    push_answer answer; /* the one to show if none is found */
} push_guess;

/* Asks, or goes on asking. 0: all was asked, or one was found; else *answer says why not. -EAGAIN as
 * push_transport.exchange. */
int push_guess_ask(push_guess *guess, const push_transport *transport, push_answer *answer,
                   uint64_t until_ns);

/* NULL: none. */
const push_format *push_guess_found(const push_guess *guess);

/* The format of a name; NULL: there is none. */
const push_format *push_format_named(const char *name);

#endif
