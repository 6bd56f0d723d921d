/* SPDX-License-Identifier: MIT
 *
 * exchange.h: a request to the control socket of a process, and its answer, without waiting.
 *
 *   SENDS --> READS_HEAD --(begin)--> READS_BODY --(take, take ...)--> end
 *
 * The process may be anybody's: it may answer nonsense, without end, slowly, or not at all. Only
 * what libpprof sends is understood: HTTP/1.1, a few headers, and a length. Whatever is wrong ends
 * the exchange with a sentence.
 *
 * Owns: the connection, from begin to end.
 */
#ifndef CP_AGENT_EXCHANGE_H
#define CP_AGENT_EXCHANGE_H

#include "agent/loop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CP_EXCHANGE_BYTES = 16 * 1024, CP_HEADER_BYTES = 192 };

typedef struct cp_exchange cp_exchange;

typedef struct cp_exchange_events {
    /* The head of the answer is there. */
    void (*begin)(cp_exchange *exchange);
    /* Bytes of the body. Returns how many it takes: if these are not all, the exchange rests until
     * cp_exchange_go_on(). */
    size_t (*take)(cp_exchange *exchange, const char *data, size_t length);
    /* The answer is whole, or `failure` says why it is not. The exchange may be freed. It is closed already; if it
     * `keeps` and the answer is whole, only the descriptor is left, and is the owner's. */
    void (*end)(cp_exchange *exchange, const char *failure);
} cp_exchange_events;

struct cp_exchange {
    cp_loop_source source;
    const cp_exchange_events *events;
    void *owner;
    int64_t patience_ns; /* until the head of the answer comes */
    bool is_head;        /* the request is HEAD: no body follows */
    bool keeps;          /* the connection is for another request after this one */
    bool is_begun;       /* the head of the answer was read */
    /* The answer. */
    int status;
    uint64_t length; /* of the body */
    uint64_t taken;  /* of these, by `take` */
    char type[CP_HEADER_BYTES], disposition[CP_HEADER_BYTES], location[CP_HEADER_BYTES],
        allow[CP_HEADER_BYTES]; /* "": there is no such header */
    bool is_go_pprof;           /* X-Go-Pprof */
    /* What is not sent, and what is not taken. */
    char *out;
    size_t out_length, out_sent;
    char *in;
    size_t in_at, in_length;
};

/* Sends the request, a text on the heap that becomes the exchange's, on a connection, which becomes the exchange's,
 * too. The members `events`, `owner`, `patience_ns`, `is_head` and `keeps` are set. 0, or -errno: then nothing has begun. */
int cp_exchange_begin(cp_exchange *x, cp_loop *loop, int fd, char *request, size_t length);

/* Calls `take` again, and goes on reading if that takes everything. May end the exchange. */
void cp_exchange_go_on(cp_exchange *x);

/* Closes the connection, and calls nobody. Does nothing if the exchange has ended. */
void cp_exchange_cancel(cp_exchange *x);

#endif
