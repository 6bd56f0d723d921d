/* SPDX-License-Identifier: MIT
 *
 * clients.c: see clients.h.
 *
 * All processes are of one origin for a browser, and one of them may be hostile. So the agent hands
 * on no page of a process: the list of its profiles and the flame graph page are the agent's own, and what else
 * is HTML comes as text.
 *
 * Tested by: e2e.cpprof_agent, e2e.cpprof_agent_hostile, e2e.cpprof_agent_doors.
 */
#include "agent/clients.h"

#include "agent/exchange.h"
#include "agent/pages.h"
#include "ask/source_root.h"
#include "base/clock.h"
#include "base/message.h"
#include "base/pool.h"
#include "page/page_data.h"

#include "http/request.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)

static const int64_t request_ns = 10 * SECOND, body_ns = 30 * SECOND;
static const int64_t write_ns = 30 * SECOND; /* without a byte that the client takes */
static const int64_t linger_ns = 2 * SECOND;
static const int64_t grace_ns = 60 * SECOND; /* beside the time for which a profile is collected */
static const int64_t pause_ns = SECOND / 10;
static const int64_t silence_ns = SECOND / 4; /* after which another client may have the place */

enum {
    CLIENTS = 256,
    CLIENTS_OF_PROCESS = 16, /* one that hangs must not take all places */
    BODIES_BYTES = 8 << 20,  /* of all clients */
    HEAD_BYTES = 2048,
    LIST_BYTES = 256 << 10 /* a page of a process */
};

typedef enum client_state { READS, RELAYS, WRITES, LINGERS } client_state;

struct cp_client {
    cp_loop_source source;
    cp_clients *all;
    client_state state;
    /* The request. */
    char *in;
    size_t in_length, head_length;
    size_t body_bytes; /* as counted in `all` */
    char *head;        /* the texts of `request` */
    request_head request;
    /* The process that is asked. */
    int pid;
    uint64_t start;
    cp_exchange exchange;
    /* What is sent: the head and the whole answer of the agent's own, or a piece of the process's. */
    char *out;
    size_t out_length, out_sent;
    bool is_last; /* nothing comes after `out` */
    cp_client *next, *previous;
};

/* ---- coming and going ---- */

static void end_client(cp_client *c)
{
    cp_clients *all = c->all;

    cp_exchange_cancel(&c->exchange);
    cp_loop_close(&c->source);
    *(c->previous ? &c->previous->next : &all->first) = c->next;
    if (c->next) {
        c->next->previous = c->previous;
    }
    all->count--;
    all->body_bytes -= c->body_bytes;
    free(c->in);
    free(c->head);
    free(c->out);
    free(c);
}

/* For whoever is called by an exchange of the client's: it ends in the next turn. */
static void end_soon(cp_client *c)
{
    c->state = LINGERS;
    cp_loop_wait_until(&c->source, 0);
}

static void enter(cp_client *c, client_state state, uint32_t events, int64_t limit_ns)
{
    c->state = state;
    cp_loop_wait_until(&c->source, limit_ns == CP_NEVER ? CP_NEVER : cp_now_ns() + limit_ns);
    cp_loop_want(&c->source, events);
}

/* ---- sending ---- */

/* All is sent. A reset would throw away what the client has not read yet. */
static void linger(cp_client *c)
{
    shutdown(c->source.fd, SHUT_WR);
    enter(c, LINGERS, EPOLLIN, linger_ns);
}

/* Sends what is in `out`, as far as the client takes it. False: it has hung up. */
static bool send_out(cp_client *c)
{
    ssize_t sent = c->out_sent < c->out_length
                       ? send(c->source.fd, c->out + c->out_sent, c->out_length - c->out_sent,
                              MSG_NOSIGNAL | MSG_DONTWAIT)
                       : 0;

    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
        return false;
    }
    c->out_sent += sent > 0 ? (size_t)sent : 0;
    if (sent > 0) {
        cp_loop_wait_until(&c->source, cp_now_ns() + write_ns);
    }
    if (c->out_sent < c->out_length) {
        cp_loop_want(&c->source, c->state == RELAYS ? EPOLLOUT | EPOLLRDHUP : EPOLLOUT);
        return true;
    }
    c->out_length = c->out_sent = 0;
    if (c->is_last) {
        linger(c);
    } else {
        cp_loop_wait_until(&c->source, CP_NEVER); /* the exchange has a time limit */
        cp_loop_want(&c->source, EPOLLRDHUP);
    }
    return true;
}

static bool is_head(const cp_client *c)
{
    return c->request.method && strcmp(c->request.method, "HEAD") == 0;
}

/* An answer of the agent's own. `header`: one more, with its line break, or "". */
static void answer(cp_client *c, int status, const char *type, const char *header, const char *body,
                   size_t length)
{
    char head[HEAD_BYTES];
    int head_length =
        snprintf(head, sizeof head,
                 "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nX-Content-Type-Options: nosniff\r\n%s"
                 "Content-Length: %zu\r\nConnection: close\r\n\r\n",
                 status, request_reason(status), type, header, length);

    free(c->out);
    c->out_length = (size_t)head_length + (is_head(c) ? 0 : length);
    c->out = cp_heap_alloc(1, c->out_length);
    c->out_sent = 0;
    memcpy(c->out, head, (size_t)head_length);
    memcpy(c->out + head_length, body, c->out_length - (size_t)head_length);
    c->is_last = true;
    enter(c, WRITES, EPOLLOUT, write_ns);
}

__attribute__((format(printf, 3, 4))) static void refuse(cp_client *c, int status,
                                                         const char *format, ...);

static void refuse(cp_client *c, int status, const char *format, ...)
{
    char text[512];
    va_list values;

    va_start(values, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it does not see the va_start above */
    vsnprintf(text, sizeof text - 1, format, values);
    va_end(values);
    size_t length = strlen(text);
    text[length++] = '\n';
    answer(c, status, "text/plain; charset=utf-8",
           status == 401   ? "X-Go-Pprof: 1\r\nWWW-Authenticate: Bearer\r\n"
           : status == 405 ? "X-Go-Pprof: 1\r\nAllow: GET, HEAD\r\n"
                           : "X-Go-Pprof: 1\r\n",
           text, length);
}

/* ---- from a process ---- */

static cp_client *client_of(const cp_exchange *x)
{
    return x->owner;
}

/* What a process says goes on only if it is what libpprof would say. */
static const char *type_of(const cp_exchange *x)
{
    static const char file[] = "application/octet-stream";

    return strcasecmp(x->type, file) == 0 ? file : "text/plain; charset=utf-8";
}

static bool is_relative(const char *location)
{
    return *location && *location != '/' && !strpbrk(location, ":\\");
}

static void put_header(FILE *out, const char *name, const char *value)
{
    if (*value) {
        fprintf(out, "%s: %s\r\n", name, value);
    }
}

static void begin_relay(cp_exchange *x)
{
    cp_client *c = client_of(x);
    FILE *out = fmemopen(c->out, CP_EXCHANGE_BYTES, "w");

    if (!out) {
        end_soon(c);
        return;
    }
    fprintf(out, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nX-Content-Type-Options: nosniff\r\n",
            x->status, request_reason(x->status), type_of(x));
    put_header(out, "Content-Disposition", x->disposition);
    put_header(out, "Location", is_relative(x->location) ? x->location : "");
    put_header(out, "Allow", x->allow);
    put_header(out, "X-Go-Pprof", x->is_go_pprof ? "1" : "");
    if (!x->is_head) {
        fprintf(out, "Content-Length: %" PRIu64 "\r\n", x->length);
    }
    fputs("Connection: close\r\n\r\n", out);
    c->out_length = (size_t)ftell(out);
    fclose(out);
    if (!send_out(c)) {
        end_soon(c);
    }
}

static size_t relay(cp_exchange *x, const char *data, size_t length)
{
    cp_client *c = client_of(x);

    if (c->out_length || c->state != RELAYS) {
        return 0; /* it has not taken the piece before */
    }
    memcpy(c->out, data, length);
    c->out_length = length;
    if (!send_out(c)) {
        end_soon(c);
    }
    return length;
}

static cp_host_process *process_of(const cp_client *c)
{
    char name[48];
    int length = snprintf(name, sizeof name, "%d.%" PRIu64, c->pid, c->start);

    return cp_processes_find(c->all->processes, name, (size_t)length);
}

static void end_relay(cp_exchange *x, const char *failure)
{
    cp_client *c = client_of(x);
    cp_host_process *process = failure ? process_of(c) : NULL;

    if (process) {
        cp_host_process_doubt(process);
    }
    if (failure && !x->is_begun) {
        refuse(c, 502, "process %d: %s", c->pid, failure);
        return;
    }
    if (failure) {
        end_soon(c); /* the client sees that the answer is not whole */
        return;
    }
    c->is_last = true;
    if (c->state == RELAYS && !send_out(c)) {
        end_soon(c);
    }
}

static const cp_exchange_events relay_events = {begin_relay, relay, end_relay};

/* ---- the list of profiles of a process ---- */

static void answer_own(cp_client *c, const char *type, char *text, size_t length);

static void begin_list(cp_exchange *x)
{
    cp_client *c = client_of(x);

    if (x->status != 200 || x->length > LIST_BYTES) {
        cp_exchange_cancel(x);
        refuse(c, 502, "process %d: it has no list of its profiles", c->pid);
        return;
    }
    free(c->out);
    c->out = cp_heap_alloc(1, x->length + 1);
    c->out_length = 0;
}

static size_t take_list(cp_exchange *x, const char *data, size_t length)
{
    cp_client *c = client_of(x);

    memcpy(c->out + c->out_length, data, length);
    c->out_length += length;
    return length;
}

static void end_list(cp_exchange *x, const char *failure)
{
    cp_client *c = client_of(x);
    const cp_host_process *process = process_of(c);
    size_t length = 0;

    if (failure || !process) {
        refuse(c, 502, "process %d: %s", c->pid, failure ? failure : "it has ended");
        return;
    }
    char *text = cp_pages_process(process, c->out, is_head(c) ? 0 : c->out_length, &length);
    answer_own(c, "text/html; charset=utf-8", text, length);
}

static const cp_exchange_events list_events = {begin_list, take_list, end_list};

/* ---- to a process ---- */

static unsigned clients_of(const cp_clients *all, const cp_host_process *process)
{
    unsigned count = 0;

    for (const cp_client *c = all->first; c; c = c->next) {
        count += c->state == RELAYS && c->pid == process->pid && c->start == process->start;
    }
    return count;
}

static FILE *open_text(char **text, size_t *length)
{
    FILE *out = open_memstream(text, length);

    if (!out) {
        cp_out_of_memory();
    }
    return out;
}

/* The head is written anew from what was understood: the process reads the same as the agent. */
static char *make_request(const cp_client *c, const char *target, size_t *length)
{
    const request_head *r = &c->request;
    const struct {
        const char *name, *value;
    } headers[] = {{"Host", r->host},
                   {"Origin", r->origin},
                   {"Sec-Fetch-Site", r->fetch_site},
                   {"Sec-Fetch-Dest", r->fetch_destination}};
    char *text = NULL;
    FILE *out = open_text(&text, length);

    fprintf(out, "%s %s HTTP/1.1\r\n", r->method, target);
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        put_header(out, headers[i].name, headers[i].value ? headers[i].value : "");
    }
    if (!r->host || !*r->host) {
        put_header(out, "Host", "localhost");
    }
    fprintf(out, "Connection: close\r\nContent-Length: %zu\r\n\r\n", r->body_size);
    fwrite(c->in + c->head_length, 1, r->body_size, out);
    if (fclose(out) != 0) {
        cp_out_of_memory();
    }
    return text;
}

static bool is_list(const char *target)
{
    static const char path[] = "/debug/pprof/";
    size_t length = sizeof path - 1;

    return strncmp(target, path, length) == 0 && (!target[length] || target[length] == '?');
}

static void ask_process(cp_client *c, cp_host_process *process, const char *target)
{
    size_t length = 0;

    if (clients_of(c->all, process) >= CLIENTS_OF_PROCESS) {
        refuse(c, 503, "process %d: %d clients wait for it already", process->pid,
               CLIENTS_OF_PROCESS);
        return;
    }
    int fd = cp_host_process_connect(process);
    if (fd < 0) {
        cp_host_process_doubt(process);
        refuse(c, 502, "process %d: it does not listen", process->pid);
        return;
    }
    char *request = make_request(c, target, &length);
    c->pid = process->pid;
    c->start = process->start;
    c->exchange.owner = c;
    c->exchange.events = is_list(target) ? &list_events : &relay_events;
    c->exchange.is_head = is_head(c);
    c->exchange.patience_ns = (int64_t)cp_source_seconds(target) * SECOND + grace_ns;
    free(c->out);
    c->out = cp_heap_alloc(1, CP_EXCHANGE_BYTES);
    enter(c, RELAYS, EPOLLRDHUP, CP_NEVER);
    if (cp_exchange_begin(&c->exchange, c->source.loop, fd, request, length) < 0) {
        refuse(c, 503, "there is no descriptor, or no memory");
    }
}

/* ---- paths ---- */

/* Whether the path is one that a process has under its own address. /control/ is not among them. */
static bool is_of_process(const char *path)
{
    return strncmp(path, "/debug/pprof/", 13) == 0 || strncmp(path, "/pprof/", 7) == 0;
}

static bool is_flame(const char *path)
{
    static const char flame[] = "/debug/pprof/flame?profile=";

    return strncmp(path, flame, sizeof flame - 1) == 0;
}

/* The host of "http://HOST". */
static bool is_same_host(const char *origin, const char *host)
{
    const char *at = strstr(origin, "://");

    return at && host && strcasecmp(at + 3, host) == 0;
}

/* Whether a browser says that it asks for a page of another site: see docs/HTTP.md. */
static bool is_of_other_site(const request_head *r)
{
    if (r->fetch_site) {
        return strcmp(r->fetch_site, "same-origin") != 0 && strcmp(r->fetch_site, "none") != 0;
    }
    return r->origin && !is_same_host(r->origin, r->host);
}

static void answer_flame(cp_client *c)
{
    if (is_of_other_site(&c->request)) {
        refuse(c, 403, "a page of another site asks for this; if you want it, type the address");
    } else {
        answer(c, 200, "text/html; charset=utf-8", "", cp_page_data, cp_page_length);
    }
}

static void answer_for(cp_client *c, const char *name, size_t length, const char *path)
{
    cp_host_process *process = cp_processes_find(c->all->processes, name, length);

    if (!process) {
        refuse(c, 404, "no process %.*s has a control socket that this agent may ask",
               (int)(length < 40 ? length : 40), name);
    } else if (is_flame(path)) {
        answer_flame(c);
    } else {
        ask_process(c, process, path);
    }
}

/* "/debug/pprof/heap?process=1234.567&seconds=5", which Parca and Alloy make of a label of the target. */
static void answer_by_parameter(cp_client *c, const char *target)
{
    static const char key[] = "process=";
    const char *query = strchr(target, '?');
    const char *name = query ? query + 1 : NULL;

    while (name && strncmp(name, key, sizeof key - 1) != 0) {
        name = strchr(name, '&');
        name = name ? name + 1 : NULL;
    }
    if (!name) {
        refuse(c, 404, "which process? /PID/debug/pprof/, or the parameter process=PID");
        return;
    }
    const char *value = name + sizeof key - 1, *rest = value + strcspn(value, "&");
    int before =
        (int)(name - target) - (*rest ? 0 : 1); /* without the '?' or '&' of the last one */
    char *path = cp_heap_printf("%.*s%s", before, target, *rest ? rest + 1 : "");
    answer_for(c, value, (size_t)(rest - value), path);
    free(path);
}

static void answer_own(cp_client *c, const char *type, char *text, size_t length)
{
    answer(c, 200, type,
           "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\n", text,
           length);
    free(text);
}

static void route(cp_client *c)
{
    const char *target = c->request.target;
    size_t number = strcspn(target + 1, "/?");
    const char *path = target + 1 + number, *method = c->request.method;
    size_t length = 0;
    bool is_get = strcmp(method, "GET") == 0 || is_head(c);

    if (is_of_process(target)) {
        answer_by_parameter(c, target);
    } else if (is_of_process(path)) {
        answer_for(c, target + 1, number, path);
    } else if (!is_get) {
        refuse(c, 405, "method not allowed");
    } else if (strcmp(target, "/") == 0) {
        char *text = cp_pages_index(c->all->processes, &length);
        answer_own(c, "text/html; charset=utf-8", text, length);
    } else if (strcmp(target, "/targets") == 0) {
        const char *host = c->request.host ? c->request.host : "";
        char *text = cp_pages_targets(c->all->processes, *host ? host : c->all->address, &length);
        answer_own(c, "application/json", text, length);
    } else {
        refuse(c, 404, "there are /, /targets and /PID/debug/pprof/");
    }
}

/* ---- the request ---- */

/* Whether the request may be answered; if not, it is refused. */
static bool is_admitted(cp_client *c)
{
    const cp_clients *all = c->all;
    bool only_loopback = all->at.is_loopback && !all->at.is_local && all->token.length == 0;

    if (*c->request.target != '/') {
        refuse(c, 400, "the target is no path");
    } else if (only_loopback && c->request.host && !address_host_is_loopback(c->request.host)) {
        refuse(c, 403, "the server is for this machine only: ask for localhost, or 127.0.0.1");
    } else if (!token_is_shown(&all->token, c->request.authorization)) {
        refuse(c, 401, "a token is needed: Authorization: Bearer ...");
    } else {
        return true;
    }
    return false;
}

static void refuse_head(cp_client *c, int status)
{
    c->request = (request_head){.method = NULL};
    refuse(c, status, "%s", request_reason(status));
}

/* Makes room for the body. */
static void expect_body(cp_client *c)
{
    size_t whole = c->head_length + c->request.body_size;

    c->body_bytes = c->request.body_size;
    c->all->body_bytes += c->body_bytes;
    cp_loop_wait_until(&c->source, cp_now_ns() + body_ns);
    if (c->all->body_bytes > BODIES_BYTES) {
        refuse(c, 503, "other requests have too long bodies");
    } else if (whole > REQUEST_HEAD_MAX) {
        c->in = cp_heap_resize(c->in, 1, whole);
    }
    if (c->request.expects_continue && c->state == READS) {
        static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
        (void)!send(c->source.fd, go_on, sizeof go_on - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
}

/* A copy of the head is cut into its texts; if it is not whole, it is read again later. */
static void read_head(cp_client *c)
{
    c->head = cp_heap_resize(c->head, 1, REQUEST_HEAD_MAX + 1);
    memcpy(c->head, c->in, c->in_length);
    long length = request_read(c->head, c->in_length, &c->request);
    if (length < 0) {
        refuse_head(c, (int)-length);
    } else if (length > 0) {
        c->head_length = (size_t)length;
        expect_body(c);
    }
}

static void look_at_request(cp_client *c)
{
    if (!c->head_length) {
        read_head(c);
    }
    bool is_whole = c->head_length && c->in_length >= c->head_length + c->request.body_size;
    if (c->state == READS && is_whole && is_admitted(c)) {
        route(c);
    }
}

static void receive(cp_client *c)
{
    size_t whole = c->head_length + c->request.body_size;
    size_t room = c->head_length && whole > REQUEST_HEAD_MAX ? whole : REQUEST_HEAD_MAX;
    ssize_t got = room > c->in_length
                      ? recv(c->source.fd, c->in + c->in_length, room - c->in_length, MSG_DONTWAIT)
                      : 0;

    if (got > 0) {
        c->in_length += (size_t)got;
        look_at_request(c);
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        end_client(c);
    }
}

/* ---- events ---- */

static void drain(cp_client *c)
{
    char dregs[4096];
    ssize_t got = recv(c->source.fd, dregs, sizeof dregs, MSG_DONTWAIT);

    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
        end_client(c);
    }
}

static void go_on(cp_client *c, uint32_t events)
{
    bool hangs_up = (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;

    /* If it hangs up, nobody wants what is collected. */
    if ((c->state == RELAYS && hangs_up) || !send_out(c)) {
        end_client(c);
    } else if (c->state == RELAYS && !c->out_length) {
        cp_exchange_go_on(&c->exchange);
    }
}

static void act(cp_loop_source *source, uint32_t events)
{
    cp_client *c = (cp_client *)source;

    if (events == 0) {
        if (c->state == READS) {
            refuse_head(c, 408);
        } else {
            end_client(c);
        }
    } else if (c->state == READS) {
        receive(c);
    } else if (c->state == LINGERS) {
        drain(c);
    } else {
        go_on(c, events);
    }
}

/* ---- the server ---- */

/* If all places are taken, the client that has been silent for the longest time loses its own. */
static void make_room(const cp_clients *all)
{
    cp_client *oldest = NULL;

    for (cp_client *c = all->first; c && all->count == CLIENTS; c = c->next) {
        bool is_idle = c->state == READS || c->state == LINGERS;
        if (is_idle && (!oldest || c->source.deadline_ns < oldest->source.deadline_ns)) {
            oldest = c;
        }
    }
    if (oldest && oldest->source.deadline_ns < cp_now_ns() + request_ns - silence_ns) {
        end_client(oldest);
    }
}

static void accept_one(cp_loop_source *source, uint32_t events)
{
    cp_clients *all = (cp_clients *)source;

    make_room(all);
    int fd = -1;

    if (events && all->count < CLIENTS) {
        /* cppcheck-suppress nullPointer ; nobody wants the client's address */
        fd = accept4(source->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    }
    if (fd < 0) { /* no place, or no descriptor: the client waits */
        cp_loop_wait_until(source, events ? cp_now_ns() + pause_ns : CP_NEVER);
        cp_loop_want(source, events ? 0 : EPOLLIN);
        return;
    }
    cp_client *c = cp_heap_alloc(1, sizeof *c);
    *c = (cp_client){.source = {.fd = fd,
                                .events = EPOLLIN,
                                .deadline_ns = cp_now_ns() + request_ns,
                                .act = act},
                     .all = all,
                     .exchange = {.source = {.fd = -1}},
                     .in = cp_heap_alloc(1, REQUEST_HEAD_MAX),
                     .next = all->first};
    if (c->next) {
        c->next->previous = c;
    }
    all->first = c;
    all->count++;
    if (cp_loop_add(source->loop, &c->source) < 0) {
        end_client(c);
    }
}

static int read_token(cp_clients *all, const char *file, cp_error *error)
{
    int status = file ? token_read(&all->token, file) : 0;

    if (status == -EINVAL) {
        return cp_fail(error, "%s: expected a token of %d to %d characters in the first line", file,
                       TOKEN_MIN, TOKEN_MAX);
    }
    return status == 0 ? 0 : cp_fail(error, "%s: %s", file, strerror(-status));
}

int cp_clients_begin(cp_clients *all, cp_loop *loop, cp_processes *processes, const char *address,
                     const char *token_file, cp_error *error)
{
    *all = (cp_clients){
        .listener = {.fd = -1, .events = EPOLLIN, .deadline_ns = CP_NEVER, .act = accept_one},
        .processes = processes};
    if (read_token(all, token_file, error) < 0) {
        return -1;
    }
    if (address_read(&all->at, address) < 0) {
        return cp_fail(error, "--listen %s: expected 127.0.0.1:PORT, [::1]:PORT or unix:/PATH",
                       address);
    }
    int fd = address_listen(&all->at);
    if (fd < 0) {
        return cp_fail(error, "--listen %s: %s", address, strerror(-fd));
    }
    all->listener.fd = fd;
    if (all->at.is_local && lstat(all->at.at.local.sun_path, &all->file) < 0) {
        all->file.st_ino = 0;
    }
    address_text(&all->at, all->address);
    return cp_loop_add(loop, &all->listener) < 0 ? cp_fail(error, "no memory") : 0;
}

/* While it still listens there: after that the file may be another process's. */
static void remove_file(const cp_clients *all)
{
    const char *path = all->at.at.local.sun_path;

    if (all->listener.fd >= 0 && all->at.is_local && address_has_file(path, &all->file)) {
        unlink(path);
    }
}

void cp_clients_end(cp_clients *all)
{
    for (cp_client *c = all->first, *next; c; c = next) {
        next = c->next;
        end_client(c);
    }
    remove_file(all);
    cp_loop_close(&all->listener);
}
