/* SPDX-License-Identifier: MIT
 *
 * exchange.c: see exchange.h.
 *
 * Tested by: e2e.cpprof_agent, e2e.cpprof_agent_hostile.
 */
#include "agent/exchange.h"

#include "base/clock.h"
#include "base/pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* A process that has begun its answer must go on with it. */
static const int64_t silence_ns = INT64_C(30) * 1000000000;

/* ---- the end ---- */

void cp_exchange_cancel(cp_exchange *x)
{
    cp_loop_close(&x->source);
    free(x->out);
    free(x->in);
    x->out = x->in = NULL;
}

static void end(cp_exchange *x, const char *failure)
{
    bool keeps = x->keeps && !failure && x->in_at == x->in_length;

    if (keeps) {
        cp_loop_remove(&x->source);
        free(x->in);
        x->in = NULL;
    } else {
        cp_exchange_cancel(x);
    }
    x->events->end(x, failure);
}

/* ---- the head of the answer ---- */

/* Whether the value can be handed on to a browser: no control characters, nothing beyond ASCII. */
static bool is_plain(const char *value, size_t length)
{
    size_t i = 0;

    while (i < length && value[i] >= ' ' && value[i] < '\x7f') {
        i++;
    }
    return i == length && length < CP_HEADER_BYTES;
}

static void take_text(char to[CP_HEADER_BYTES], const char *value, size_t length)
{
    memcpy(to, value, length);
    to[length] = '\0';
}

static bool read_number(const char *value, size_t length, uint64_t *number)
{
    enum { DIGITS = 15 };
    size_t i = 0;

    *number = 0;
    for (; i < length && i < DIGITS && value[i] >= '0' && value[i] <= '9'; i++) {
        *number = *number * 10 + (uint64_t)(value[i] - '0');
    }
    return i == length && length > 0;
}

typedef struct answer_head {
    bool has_length;
    const char *failure;
} answer_head;

static bool is_named(const char *line, size_t name_length, const char *name)
{
    return strlen(name) == name_length && strncasecmp(line, name, name_length) == 0;
}

/* Headers that nobody needs are left out. */
static void take_header(cp_exchange *x, answer_head *head, const char *line, size_t length)
{
    const char *colon = memchr(line, ':', length);
    size_t name = colon ? (size_t)(colon - line) : 0;

    if (!colon) {
        head->failure = "it answers with something else than HTTP";
        return;
    }
    const char *value = colon + 1;
    while (value < line + length && *value == ' ') {
        value++;
    }
    size_t value_length = (size_t)(line + length - value);
    if (is_named(line, name, "Content-Length")) {
        if (head->has_length || !read_number(value, value_length, &x->length)) {
            head->failure = "it answers with a length that is none";
        }
        head->has_length = true;
    } else if (is_named(line, name, "Transfer-Encoding")) {
        head->failure = "it answers in pieces";
    } else if (is_named(line, name, "X-Go-Pprof")) {
        x->is_go_pprof = true;
    } else if (is_plain(value, value_length)) {
        char *to = is_named(line, name, "Content-Type")          ? x->type
                   : is_named(line, name, "Content-Disposition") ? x->disposition
                   : is_named(line, name, "Location")            ? x->location
                   : is_named(line, name, "Allow")               ? x->allow
                                                                 : NULL;
        if (to) {
            take_text(to, value, value_length);
        }
    }
}

/* "HTTP/1.1 200 OK" */
static bool read_status(cp_exchange *x, const char *line, size_t length)
{
    static const char version[] = "HTTP/1.1 ";
    const size_t skip = sizeof version - 1, digits = 3;
    uint64_t number = 0;

    if (length < skip + digits || memcmp(line, version, skip) != 0 ||
        !read_number(line + skip, digits, &number) || number < 200 || number > 599 ||
        (length > skip + digits && line[skip + digits] != ' ')) {
        return false;
    }
    x->status = (int)number;
    return true;
}

/* Reads the head, which ends with an empty line. NULL, or what is wrong. */
static const char *read_head(cp_exchange *x, const char *text, size_t length)
{
    answer_head head = {false, NULL};
    const char *line = text, *stop = text + length - 2;

    while (line < stop && !head.failure) {
        const char *cr = memmem(line, (size_t)(stop + 2 - line), "\r\n", 2);
        size_t line_length = (size_t)(cr - line);
        if (line == text) {
            head.failure = read_status(x, line, line_length)
                               ? NULL
                               : "it answers with something else than HTTP";
        } else {
            take_header(x, &head, line, line_length);
        }
        line = cr + 2;
    }
    if (!head.failure && !head.has_length && !x->is_head) {
        head.failure = "it answers without a length";
    }
    return head.failure;
}

/* ---- reading ---- */

static bool is_whole(const cp_exchange *x)
{
    return x->is_begun && (x->is_head || x->taken == x->length);
}

/* Hands on what is there. False: it rests, or has ended. */
static bool hand_on(cp_exchange *x)
{
    uint64_t wanted = x->is_head ? 0 : x->length - x->taken;
    size_t there = x->in_length - x->in_at;

    there = there < wanted ? there : (size_t)wanted;
    size_t taken = there ? x->events->take(x, x->in + x->in_at, there) : 0;
    if (!x->source.loop) {
        return false; /* it was cancelled */
    }
    x->in_at += taken;
    x->taken += taken;
    if (is_whole(x)) {
        end(x, NULL);
        return false;
    }
    if (taken < there) {
        cp_loop_wait_until(&x->source, CP_NEVER); /* who takes it has a time limit */
        cp_loop_want(&x->source, 0);
        return false;
    }
    x->in_at = x->in_length = 0;
    return true;
}

static void look_for_head(cp_exchange *x)
{
    static const char empty_line[] = "\r\n\r\n";
    const char *found = memmem(x->in, x->in_length, empty_line, strlen(empty_line));

    if (!found) {
        if (x->in_length == CP_EXCHANGE_BYTES) {
            end(x, "the head of its answer does not end");
        }
        return;
    }
    size_t length = (size_t)(found - x->in) + strlen(empty_line);
    const char *failure = read_head(x, x->in, length);
    if (failure) {
        end(x, failure);
        return;
    }
    x->in_at = length;
    x->is_begun = true;
    x->events->begin(x);
    if (x->source.loop) {
        hand_on(x);
    }
}

static void receive(cp_exchange *x)
{
    ssize_t got =
        recv(x->source.fd, x->in + x->in_length, CP_EXCHANGE_BYTES - x->in_length, MSG_DONTWAIT);

    if (got <= 0) {
        if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
            end(x, x->is_begun ? "it ended in the middle of its answer"
                               : "it ended before it answered");
        }
        return;
    }
    x->in_length += (size_t)got;
    if (x->is_begun) {
        cp_loop_wait_until(&x->source, cp_now_ns() + silence_ns);
        hand_on(x);
    } else {
        look_for_head(x);
    }
}

/* ---- sending ---- */

/* Sends what there is room for. False: nobody reads it. */
static bool send_some(cp_exchange *x)
{
    ssize_t sent = send(x->source.fd, x->out + x->out_sent, x->out_length - x->out_sent,
                        MSG_NOSIGNAL | MSG_DONTWAIT);

    if (sent < 0) {
        return errno == EAGAIN || errno == EINTR;
    }
    x->out_sent += (size_t)sent;
    if (x->out_sent == x->out_length) {
        free(x->out);
        x->out = NULL;
    }
    return true;
}

static void send_rest(cp_exchange *x)
{
    if (!send_some(x)) {
        end(x, "it does not listen");
    } else if (!x->out) {
        cp_loop_want(&x->source, EPOLLIN);
    }
}

static void act(cp_loop_source *source, uint32_t events)
{
    cp_exchange *x = (cp_exchange *)source;

    if (events == 0) {
        end(x, "it does not answer in time");
    } else if (x->out) {
        send_rest(x);
    } else {
        receive(x);
    }
}

/* ---- the beginning ---- */

int cp_exchange_begin(cp_exchange *x, cp_loop *loop, int fd, char *request, size_t length)
{
    x->source = (cp_loop_source){.fd = fd, .deadline_ns = cp_now_ns() + x->patience_ns, .act = act};
    x->out = request;
    x->out_length = length;
    x->in = cp_heap_resize(NULL, 1, CP_EXCHANGE_BYTES);
    send_some(x); /* most requests fit; what fails now fails again in the loop, where it may end */
    x->source.events = x->out ? EPOLLOUT : EPOLLIN;
    int status = cp_loop_add(loop, &x->source);
    if (status < 0) {
        cp_exchange_cancel(x);
    }
    return status;
}

void cp_exchange_go_on(cp_exchange *x)
{
    if (x->source.loop && x->is_begun && hand_on(x)) {
        cp_loop_wait_until(&x->source, cp_now_ns() + silence_ns);
        cp_loop_want(&x->source, EPOLLIN);
    }
}
