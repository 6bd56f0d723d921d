/* SPDX-License-Identifier: MIT
 *
 * connection.c: see connection.h.
 *
 * Tested by: unit.connection, e2e.http_server, e2e.http_hangups
 */
#include "connection.h"

#include "address.h"

#include <pprof_http_door.h>

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define SECOND UINT64_C(1000000000)

/* How long a client may take. */
static const uint64_t idle_ns = 30 * SECOND;
static const uint64_t head_ns = 10 * SECOND;
static const uint64_t body_ns = 30 * SECOND;
static const uint64_t write_ns = 30 * SECOND; /* without a byte that gets through */
static const uint64_t linger_ns = 2 * SECOND;

enum { PIECE = 16384, HOST_MAX = 64 };

static void enter(connection *c, connection_state state, uint64_t now_ns, uint64_t limit_ns)
{
    c->state = state;
    c->since_ns = now_ns;
    c->deadline_ns = limit_ns < UINT64_MAX - now_ns ? now_ns + limit_ns : UINT64_MAX;
}

void connection_begin(connection *c, int fd, uint64_t now_ns, const connection_rules *rules)
{
    descriptor_keep(&c->socket, fd);
    c->rules = rules;
    enter(c, CONNECTION_READS, now_ns, head_ns);
}

/* A child of the program may have the socket, too: its copy keeps the client waiting. */
static void hang_up(const connection *c)
{
    if (descriptor_is_there(&c->socket)) {
        shutdown(c->socket.fd, SHUT_RDWR);
    }
}

void connection_end(connection *c)
{
    pprof_http_cancel(c->answer);
    bytes_release(&c->in);
    bytes_release(&c->head);
    bytes_release(&c->out);
    hang_up(c);
    descriptor_close(&c->socket);
    memset(c, 0, sizeof *c);
    c->socket = DESCRIPTOR_NONE;
}

/* What the parent has begun is the parent's: it goes on with the client. */
void connection_forget(connection *c)
{
    c->answer = NULL;
    descriptor_close(&c->socket);
    connection_end(c);
}

short connection_events(const connection *c)
{
    switch (c->state) {
    case CONNECTION_READS:
    case CONNECTION_LINGERS:
        return POLLIN;
    case CONNECTION_WAITS:
        return POLLRDHUP;
    case CONNECTION_WRITES:
        return POLLOUT;
    default:
        return 0;
    }
}

/* ---- the answer ---- */

__attribute__((format(printf, 2, 3))) static void add_head(connection *c, const char *format, ...)
{
    size_t room = sizeof c->out_head - c->out_head_length;
    va_list values;
    va_start(values, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it does not see the va_start above */
    int length = vsnprintf(c->out_head + c->out_head_length, room, format, values);
    va_end(values);
    if (length > 0 && (size_t)length < room) {
        c->out_head_length += (size_t)length;
    }
}

static int begin_answer(void *context, int status, const pprof_http_header *headers, size_t count)
{
    connection *c = context;
    c->out_head_length = 0;
    add_head(c, "HTTP/1.1 %d %s\r\n", status, request_reason(status));
    for (size_t i = 0; i < count; i++) {
        add_head(c, "%s: %s\r\n", headers[i].name, headers[i].value);
    }
    return 0;
}

static int add_to_answer(void *context, const void *data, size_t length)
{
    connection *c = context;
    return bytes_append(&c->out, data, length) ? 0 : -ENOMEM;
}

static void send_answer(connection *c, uint64_t now_ns);
static void look_at_request(connection *c, uint64_t now_ns);

static void end_head(connection *c, uint64_t now_ns)
{
    bool is_head = c->request.method != NULL && strcmp(c->request.method, "HEAD") == 0;
    if (!is_head) {
        add_head(c, "Content-Length: %zu\r\n", c->out.length);
    }
    add_head(c, "Connection: %s\r\n\r\n", c->keeps_alive ? "keep-alive" : "close");
    c->sent = 0;
    enter(c, CONNECTION_WRITES, now_ns, write_ns);
    send_answer(c, now_ns);
}

/* Answers without the handler, and closes. */
static void refuse(connection *c, int status, const char *text, uint64_t now_ns)
{
    static const pprof_http_header headers[] = {{"Content-Type", "text/plain; charset=utf-8"},
                                                {"X-Content-Type-Options", "nosniff"},
                                                {"X-Go-Pprof", "1"},
                                                {"WWW-Authenticate", "Bearer"}};
    begin_answer(c, status, headers, status == 401 ? 4 : 3);
    bytes_append_text(&c->out, text);
    bytes_append_text(&c->out, "\n");
    c->keeps_alive = false;
    end_head(c, now_ns);
}

static bool has_failed(const connection *c)
{
    return c->out_head_length == 0;
}

static void fail(connection *c)
{
    c->out_head_length = 0;
    c->out.length = 0;
}

void connection_make_answer(connection *c)
{
    pprof_http_response response = {
        .size = sizeof response, .begin = begin_answer, .write = add_to_answer, .ctx = c};
    pprof_http_answer *answer = c->answer;
    c->answer = NULL;
    int error = pprof_http_finish(answer, &response);
    if (error != 0) {
        fail(c);
    }
}

bool connection_is_twin(const connection *c, const connection *other)
{
    return c != other && c->state == CONNECTION_IS_DUE && other->state == CONNECTION_IS_DUE &&
           c->answer != NULL && other->answer != NULL &&
           pprof_http_door_5.are_same(c->answer, other->answer);
}

void connection_copy_answer(connection *c, const connection *twin)
{
    pprof_http_cancel(c->answer);
    c->answer = NULL;
    memcpy(c->out_head, twin->out_head, twin->out_head_length);
    c->out_head_length = twin->out_head_length;
    if (!bytes_append(&c->out, twin->out.data, twin->out.length)) {
        fail(c);
    }
}

void connection_send_answer(connection *c, uint64_t now_ns)
{
    if (has_failed(c)) {
        refuse(c, 500, "the answer could not be made", now_ns);
    } else {
        end_head(c, now_ns);
    }
}

/* ---- the request ---- */

static const char *refusal_of(int status)
{
    switch (status) {
    case 413:
        return "the body is larger than 1 MiB";
    case 414:
    case 431:
        return "the request is too long";
    case 501:
        return "Transfer-Encoding is not supported: send a Content-Length";
    case 505:
        return "HTTP/1.0 and HTTP/1.1 are supported";
    default:
        return "malformed request";
    }
}

/* The target may be a whole URL: then it names a host, too. */
static bool is_for_loopback(const request_head *request)
{
    char host[HOST_MAX];
    const char *url = strstr(request->target, "://");
    if (request->host != NULL && !address_host_is_loopback(request->host)) {
        return false;
    }
    if (*request->target == '/' || url == NULL) {
        return true;
    }
    int length = snprintf(host, sizeof host, "%.*s", (int)strcspn(url + 3, "/?#"), url + 3);
    return length < (int)sizeof host && address_host_is_loopback(host);
}

/* Whether the request may be answered; if not, it is refused. */
static bool is_admitted(connection *c, uint64_t now_ns)
{
    const connection_rules *rules = c->rules;
    if (rules->only_loopback_hosts && !is_for_loopback(&c->request)) {
        refuse(c, 403, "the server is for this machine only: ask for localhost, or 127.0.0.1",
               now_ns);
        return false;
    }
    if (!token_is_shown(&rules->token, c->request.authorization)) {
        refuse(c, 401, "a token is needed: Authorization: Bearer ...", now_ns);
        return false;
    }
    return true;
}

static void begin_request(connection *c, uint64_t now_ns)
{
    uint64_t wait_ns = 0;
    c->keeps_alive = c->request.keeps_alive;
    if (!is_admitted(c, now_ns)) {
        return;
    }
    const request_head *r = &c->request;
    const pprof_http_header told[] = {{"Host", r->host},
                                      {"Origin", r->origin},
                                      {"Sec-Fetch-Site", r->fetch_site},
                                      {"Sec-Fetch-Dest", r->fetch_destination}};
    const pprof_http_request wanted = {.size = sizeof wanted,
                                       .method = r->method,
                                       .target = r->target,
                                       .body = c->in.data + c->length,
                                       .body_size = r->body_size,
                                       .headers = told,
                                       .header_count = sizeof told / sizeof *told};
    int error = c->rules->is_control
                    ? pprof_http_door_5.begin_control(&wanted, &c->answer, &wait_ns)
                    : pprof_http_begin(&wanted, &c->answer, &wait_ns);
    if (error != 0) {
        refuse(c, 500, "no memory", now_ns);
        return;
    }
    /* The collection has begun after `now_ns`, and takes its whole time. */
    enter(c, wait_ns > 0 ? CONNECTION_WAITS : CONNECTION_IS_DUE, c->rules->now_ns(), wait_ns);
}

/* A client that gets no interim answer, because it has not taken the answers before, sends the body
 * after some time. Half of one would be taken for the beginning of the next answer. */
static void send_interim(connection *c)
{
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    ssize_t sent = send(c->socket.fd, go_on, sizeof go_on - 1, MSG_NOSIGNAL);
    if (sent > 0 && (size_t)sent < sizeof go_on - 1) {
        connection_end(c);
    }
}

/* Reads the head, if it is whole. */
static void read_head(connection *c, uint64_t now_ns)
{
    size_t length = c->in.length < REQUEST_HEAD_MAX ? c->in.length : REQUEST_HEAD_MAX;
    const char *end = length > 0 ? memmem(c->in.data, length, "\r\n\r\n", 4) : NULL;
    if (end == NULL && length < REQUEST_HEAD_MAX) {
        return;
    }
    c->head.length = 0;
    if (!bytes_append(&c->head, c->in.data, length)) {
        connection_end(c);
        return;
    }
    long status = request_read(c->head.data, length, &c->request);
    if (status <= 0) {
        refuse(c, (int)-status, refusal_of((int)-status), now_ns);
        return;
    }
    c->length = (size_t)status;
    c->deadline_ns = now_ns + body_ns;
    if (c->request.expects_continue && c->in.length < c->length + c->request.body_size) {
        send_interim(c);
    }
}

static void look_at_request(connection *c, uint64_t now_ns)
{
    if (c->length == 0) {
        read_head(c, now_ns);
    }
    if (c->state == CONNECTION_READS && c->length > 0 &&
        c->in.length >= c->length + c->request.body_size) {
        begin_request(c, now_ns);
    }
}

static void receive(connection *c, uint64_t now_ns)
{
    ssize_t got =
        bytes_reserve(&c->in, PIECE) ? recv(c->socket.fd, c->in.data + c->in.length, PIECE, 0) : 0;
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (got <= 0) {
        connection_end(c);
        return;
    }
    if (c->in.length == 0) {
        c->deadline_ns = now_ns + head_ns;
    }
    c->in.length += (size_t)got;
    look_at_request(c, now_ns);
}

/* ---- sending ---- */

/* Makes room for the next request. Bytes of it may have come already, also all: poll() does not
 * tell of them. */
static void begin_next(connection *c, uint64_t now_ns)
{
    size_t used = c->length + c->request.body_size;
    c->in.length -= used;
    memmove(c->in.data, c->in.data + used, c->in.length);
    c->length = 0;
    c->request = (request_head){.method = NULL};
    enter(c, CONNECTION_READS, now_ns, c->in.length > 0 ? head_ns : idle_ns);
    if (c->in.length > 0) {
        look_at_request(c, now_ns);
    }
}

static void end_answer(connection *c, uint64_t now_ns)
{
    bytes_release(&c->out);
    if (c->keeps_alive) {
        begin_next(c, now_ns);
        return;
    }
    shutdown(c->socket.fd, SHUT_WR);
    enter(c, CONNECTION_LINGERS, now_ns, linger_ns);
}

static ssize_t send_some(const connection *c)
{
    struct iovec parts[2] = {{(void *)(uintptr_t)c->out_head, c->out_head_length},
                             {c->out.data, c->out.length}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    size_t skip = c->sent;
    for (int i = 0; i < 2; i++) {
        size_t of_part = skip < parts[i].iov_len ? skip : parts[i].iov_len;
        parts[i].iov_base = of_part > 0 ? (char *)parts[i].iov_base + of_part : parts[i].iov_base;
        parts[i].iov_len -= of_part;
        skip -= of_part;
    }
    return sendmsg(c->socket.fd, &message, MSG_NOSIGNAL);
}

static void send_answer(connection *c, uint64_t now_ns)
{
    ssize_t done = send_some(c);
    if (done < 0 && errno != EAGAIN && errno != EINTR) {
        connection_end(c);
        return;
    }
    if (done > 0) {
        c->sent += (size_t)done;
        c->deadline_ns = now_ns + write_ns;
    }
    if (c->sent == c->out_head_length + c->out.length) {
        end_answer(c, now_ns);
    }
}

/* ---- going on ---- */

/* Reads what nobody needs, until the client closes. */
static void drain(connection *c)
{
    char piece[PIECE];
    ssize_t got = recv(c->socket.fd, piece, sizeof piece, 0);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
        connection_end(c);
    }
}

static void be_late(connection *c, uint64_t now_ns)
{
    if (c->state == CONNECTION_WAITS) {
        enter(c, CONNECTION_IS_DUE, now_ns, UINT64_MAX);
    } else if (c->state == CONNECTION_READS && c->in.length > 0) {
        refuse(c, 408, "the request did not arrive in time", now_ns);
    } else {
        connection_end(c);
    }
}

static void act(connection *c, uint64_t now_ns)
{
    switch (c->state) {
    case CONNECTION_READS:
        receive(c, now_ns);
        break;
    case CONNECTION_WRITES:
        send_answer(c, now_ns);
        break;
    case CONNECTION_LINGERS:
        drain(c);
        break;
    default: /* the client has hung up */
        connection_end(c);
    }
}

void connection_go_on(connection *c, short events, uint64_t now_ns)
{
    if (events != 0 && !descriptor_is_there(&c->socket)) {
        connection_end(c);
    } else if (events != 0) {
        act(c, now_ns);
    }
    if (c->state != CONNECTION_FREE && c->state != CONNECTION_IS_DUE && now_ns >= c->deadline_ns) {
        be_late(c, now_ns);
    }
}
