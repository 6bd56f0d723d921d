/* SPDX-License-Identifier: MIT
 *
 * http_microhttpd.c [PORT]: /debug/pprof/ in a server that is built on GNU libmicrohttpd.
 *
 * The server has a thread for each connection, so a request may wait in its thread:
 * pprof_http_handle() does all. It serves until the standard input ends.
 *
 *   cc http_microhttpd.c -lmicrohttpd -lpprof -o http_microhttpd && ./http_microhttpd 8080
 *   go tool pprof http://127.0.0.1:8080/debug/pprof/heap
 */
#include <pprof.h>
#include <pprof_http.h>

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BODY_MAX = 1 << 20, HEADERS_MAX = 8 };

typedef struct bytes {
    char *data;
    size_t length;
} bytes;

static int append(bytes *to, const void *data, size_t length)
{
    char *grown = realloc(to->data, to->length + length + 1);
    if (grown == NULL) {
        return -ENOMEM;
    }
    memcpy(grown + to->length, data, length);
    to->data = grown;
    to->length += length;
    return 0;
}

/* A request, and its answer. */
typedef struct call {
    char *target;
    bool is_begun;
    bytes in, out;
    int status;
    char *names[HEADERS_MAX], *values[HEADERS_MAX];
    size_t headers;
} call;

/* ---- the answer ---- */

static int begin_answer(void *context, int status, const pprof_http_header *headers, size_t count)
{
    call *c = context;
    c->status = status;
    for (size_t i = 0; i < count && i < HEADERS_MAX; i++) {
        c->names[i] = strdup(headers[i].name);
        c->values[i] = strdup(headers[i].value);
        c->headers++;
    }
    return 0;
}

static int add_to_answer(void *context, const void *data, size_t length)
{
    return append(&((call *)context)->out, data, length);
}

static enum MHD_Result send_answer(struct MHD_Connection *connection, const call *c)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(c->out.length, c->out.data, MHD_RESPMEM_MUST_COPY);
    if (response == NULL) {
        return MHD_NO;
    }
    for (size_t i = 0; i < c->headers; i++) {
        MHD_add_response_header(response, c->names[i], c->values[i]);
    }
    enum MHD_Result result = MHD_queue_response(connection, (unsigned)c->status, response);
    MHD_destroy_response(response);
    return result;
}

/* ---- the request ---- */

/* libmicrohttpd decodes paths later; the handler takes the target as it came. What is returned here
 * is *context at the first call of answer_request(). */
static void *remember_target(void *unused, const char *target, struct MHD_Connection *connection)
{
    call *c = calloc(1, sizeof *c);
    (void)unused;
    (void)connection;
    if (c != NULL) {
        c->target = strdup(target);
    }
    return c;
}

static enum MHD_Result answer_profile(struct MHD_Connection *connection, const char *method,
                                      call *c)
{
    const pprof_http_header headers[] = {
        {"Host", MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host")},
        {"Origin", MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Origin")},
        {"Sec-Fetch-Site",
         MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Sec-Fetch-Site")},
        {"Sec-Fetch-Dest",
         MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Sec-Fetch-Dest")}};
    const pprof_http_request request = {.size = sizeof request,
                                        .method = method,
                                        .target = c->target,
                                        .body = c->in.data,
                                        .body_size = c->in.length,
                                        .headers = headers,
                                        .header_count = sizeof headers / sizeof *headers};
    pprof_http_response response = {
        .size = sizeof response, .begin = begin_answer, .write = add_to_answer, .ctx = c};
    c->status = 500;
    pprof_http_handle(&request, &response);
    return send_answer(connection, c);
}

/* Called once for the head, once for each piece of the body, and once at the end. */
static enum MHD_Result answer_request(void *unused, struct MHD_Connection *connection,
                                      const char *url, const char *method, const char *version,
                                      const char *data, size_t *size, void **context)
{
    call *c = *context;
    (void)unused;
    (void)url;
    (void)version;
    if (c == NULL || c->target == NULL) {
        return MHD_NO;
    }
    if (!c->is_begun) {
        c->is_begun = true;
        return MHD_YES;
    }
    if (*size > 0) {
        bool fits = c->in.length + *size <= BODY_MAX && append(&c->in, data, *size) == 0;
        *size = 0;
        return fits ? MHD_YES : MHD_NO;
    }
    return answer_profile(connection, method, c);
}

static void release_call(void *unused, struct MHD_Connection *connection, void **context,
                         enum MHD_RequestTerminationCode code)
{
    call *c = *context;
    (void)unused;
    (void)connection;
    (void)code;
    for (size_t i = 0; c != NULL && i < c->headers; i++) {
        free(c->names[i]);
        free(c->values[i]);
    }
    if (c != NULL) {
        free(c->in.data);
        free(c->out.data);
        free(c->target);
    }
    free(c);
}

int main(int argc, char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port =
                                      htons((uint16_t)(argc > 1 ? strtoul(argv[1], NULL, 10) : 0)),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct MHD_Daemon *server = MHD_start_daemon(
        MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL,
        answer_request, NULL, MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_URI_LOG_CALLBACK,
        remember_target, NULL, MHD_OPTION_NOTIFY_COMPLETED, release_call, NULL, MHD_OPTION_END);
    if (server == NULL) {
        fprintf(stderr, "http_microhttpd: the server does not start\n");
        return 1;
    }
    printf("http://127.0.0.1:%u/debug/pprof/\n",
           MHD_get_daemon_info(server, MHD_DAEMON_INFO_BIND_PORT)->port);
    fflush(stdout);
    while (getchar() != EOF) {
    }
    MHD_stop_daemon(server);
    return 0;
}
