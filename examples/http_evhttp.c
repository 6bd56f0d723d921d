/* SPDX-License-Identifier: MIT
 *
 * http_evhttp.c [PORT]: /debug/pprof/ in a server that is built on libevent's evhttp.
 *
 * All clients are served by one thread, which must not wait. So a request has two steps:
 * pprof_http_begin() starts what takes time, and a timer calls pprof_http_finish(). It serves until
 * the standard input ends.
 *
 *   cc http_evhttp.c -levent -lpprof -o http_evhttp && ./http_evhttp 8080
 *   go tool pprof http://127.0.0.1:8080/debug/pprof/profile?seconds=5
 */
#include <pprof.h>
#include <pprof_http.h>

#include <arpa/inet.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BODY_MAX = 1 << 20 };

/* ---- the answer ---- */

typedef struct call {
    struct evhttp_request *request;
    pprof_http_answer *answer;
    struct event *timer;
    struct evbuffer *body;
    int status;
} call;

static int begin_answer(void *context, int status, const pprof_http_header *headers, size_t count)
{
    call *c = context;
    c->status = status;
    for (size_t i = 0; i < count; i++) {
        evhttp_add_header(evhttp_request_get_output_headers(c->request), headers[i].name,
                          headers[i].value);
    }
    return 0;
}

static int add_to_answer(void *context, const void *data, size_t length)
{
    return evbuffer_add(((call *)context)->body, data, length) == 0 ? 0 : -ENOMEM;
}

static void release(call *c)
{
    evhttp_connection_set_closecb(evhttp_request_get_connection(c->request), NULL, NULL);
    if (c->timer != NULL) {
        event_free(c->timer);
    }
    evbuffer_free(c->body);
    free(c);
}

/* The timer's time has come. */
static void finish(evutil_socket_t none, short events, void *context)
{
    call *c = context;
    pprof_http_response response = {
        .size = sizeof response, .begin = begin_answer, .write = add_to_answer, .ctx = c};
    (void)none;
    (void)events;
    c->status = 500;
    pprof_http_finish(c->answer, &response);
    evhttp_send_reply(c->request, c->status, NULL, c->body);
    release(c);
}

/* evhttp has seen that the client is gone. */
static void cancel(struct evhttp_connection *connection, void *context)
{
    call *c = context;
    (void)connection;
    pprof_http_cancel(c->answer);
    release(c);
}

/* ---- the request ---- */

static const char *method_of(const struct evhttp_request *request)
{
    switch (evhttp_request_get_command(request)) {
    case EVHTTP_REQ_GET:
        return "GET";
    case EVHTTP_REQ_HEAD:
        return "HEAD";
    case EVHTTP_REQ_POST:
        return "POST";
    default:
        return "OTHER";
    }
}

static void wait_for(call *c, struct event_base *base, uint64_t wait_ns)
{
    const struct timeval wait = {.tv_sec = (time_t)(wait_ns / 1000000000),
                                 .tv_usec = (suseconds_t)(wait_ns / 1000 % 1000000)};
    c->timer = event_new(base, -1, 0, finish, c);
    if (c->timer == NULL || event_add(c->timer, &wait) != 0) {
        finish(-1, 0, c);
        return;
    }
    evhttp_connection_set_closecb(evhttp_request_get_connection(c->request), cancel, c);
}

static void answer_request(struct evhttp_request *request, void *base)
{
    struct evbuffer *in = evhttp_request_get_input_buffer(request);
    size_t size = evbuffer_get_length(in);
    const struct evkeyvalq *sent = evhttp_request_get_input_headers(request);
    const pprof_http_header headers[] = {
        {"Host", evhttp_find_header(sent, "Host")},
        {"Origin", evhttp_find_header(sent, "Origin")},
        {"Sec-Fetch-Site", evhttp_find_header(sent, "Sec-Fetch-Site")},
        {"Sec-Fetch-Dest", evhttp_find_header(sent, "Sec-Fetch-Dest")}};
    const pprof_http_request wanted = {.size = sizeof wanted,
                                       .method = method_of(request),
                                       .target = evhttp_request_get_uri(request),
                                       .body = size > 0 ? evbuffer_pullup(in, -1) : NULL,
                                       .body_size = size,
                                       .headers = headers,
                                       .header_count = sizeof headers / sizeof *headers};
    uint64_t wait_ns = 0;
    call *c = calloc(1, sizeof *c);
    struct evbuffer *body = evbuffer_new();
    if (c == NULL || body == NULL || pprof_http_begin(&wanted, &c->answer, &wait_ns) != 0) {
        evhttp_send_error(request, 500, NULL);
        free(c);
        return;
    }
    c->request = request;
    c->body = body;
    if (wait_ns == 0) {
        finish(-1, 0, c);
    } else {
        wait_for(c, base, wait_ns);
    }
}

/* ---- the server ---- */

static void look_at_input(evutil_socket_t fd, short events, void *base)
{
    char bytes[64];
    (void)events;
    if (read(fd, bytes, sizeof bytes) <= 0) {
        event_base_loopbreak(base);
    }
}

static unsigned port_of(struct evhttp_bound_socket *socket)
{
    struct sockaddr_in address = {.sin_port = 0};
    socklen_t length = sizeof address;
    getsockname(evhttp_bound_socket_get_fd(socket), (struct sockaddr *)&address, &length);
    return ntohs(address.sin_port);
}

int main(int argc, char **argv)
{
    struct event_base *base = event_base_new();
    struct evhttp *server = evhttp_new(base);
    struct evhttp_bound_socket *socket = evhttp_bind_socket_with_handle(
        server, "127.0.0.1", (uint16_t)(argc > 1 ? strtoul(argv[1], NULL, 10) : 0));
    struct event *input = event_new(base, STDIN_FILENO, EV_READ | EV_PERSIST, look_at_input, base);
    if (socket == NULL || input == NULL) {
        fprintf(stderr, "http_evhttp: the server does not start\n");
        return 1;
    }
    evhttp_set_max_body_size(server, BODY_MAX);
    evhttp_set_gencb(server, answer_request, base);
    event_add(input, NULL);
    printf("http://127.0.0.1:%u/debug/pprof/\n", port_of(socket));
    fflush(stdout);
    event_base_dispatch(base);
    event_free(input);
    evhttp_free(server);
    event_base_free(base);
    return 0;
}
