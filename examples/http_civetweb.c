/* SPDX-License-Identifier: MIT
 *
 * http_civetweb.c [PORT]: /debug/pprof/ in a server that is built on civetweb.
 *
 * civetweb's workers are threads, so a request may wait in one: pprof_http_handle() does all, and
 * writes straight to the client. It serves until the standard input ends.
 *
 *   cc http_civetweb.c -lcivetweb -lpprof -o http_civetweb && ./http_civetweb 8080
 *   go tool pprof http://127.0.0.1:8080/debug/pprof/heap
 */
#include <pprof.h>
#include <pprof_http.h>

#include <civetweb.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BODY_MAX = 1 << 20, TARGET_MAX = 8192 };

/* ---- the answer ---- */

static int begin_answer(void *context, int status, const pprof_http_header *headers, size_t count)
{
    struct mg_connection *connection = context;
    mg_printf(connection, "HTTP/1.1 %d %s\r\n", status,
              mg_get_response_code_text(connection, status));
    for (size_t i = 0; i < count; i++) {
        mg_printf(connection, "%s: %s\r\n", headers[i].name, headers[i].value);
    }
    return mg_printf(connection, "Connection: close\r\n\r\n") > 0 ? 0 : -EPIPE;
}

/* An error ends the answer: the client is gone. */
static int write_piece(void *context, const void *data, size_t length)
{
    return mg_write(context, data, length) == (int)length ? 0 : -EPIPE;
}

/* ---- the request ---- */

/* The body, to be freed; NULL if there is none, or too much. */
static char *read_body(struct mg_connection *connection, long long size)
{
    char *body = size > 0 && size <= BODY_MAX ? malloc((size_t)size) : NULL;
    long long done = 0;
    while (body != NULL && done < size) {
        int got = mg_read(connection, body + done, (size_t)(size - done));
        if (got <= 0) {
            free(body);
            return NULL;
        }
        done += got;
    }
    return body;
}

/* Returns the status, which civetweb takes as "answered". */
static int answer_request(struct mg_connection *connection, void *unused)
{
    const struct mg_request_info *info = mg_get_request_info(connection);
    char target[TARGET_MAX];
    (void)unused;
    snprintf(target, sizeof target, "%s%s%s", info->request_uri,
             info->query_string != NULL ? "?" : "",
             info->query_string != NULL ? info->query_string : "");
    char *body = read_body(connection, info->content_length);
    const pprof_http_header headers[] = {
        {"Host", mg_get_header(connection, "Host")},
        {"Origin", mg_get_header(connection, "Origin")},
        {"Sec-Fetch-Site", mg_get_header(connection, "Sec-Fetch-Site")},
        {"Sec-Fetch-Dest", mg_get_header(connection, "Sec-Fetch-Dest")}};
    const pprof_http_request request = {.size = sizeof request,
                                        .method = info->request_method,
                                        .target = target,
                                        .body = body,
                                        .body_size =
                                            body != NULL ? (size_t)info->content_length : 0,
                                        .headers = headers,
                                        .header_count = sizeof headers / sizeof *headers};
    pprof_http_response response = {
        .size = sizeof response, .begin = begin_answer, .write = write_piece, .ctx = connection};
    pprof_http_handle(&request, &response);
    free(body);
    return 200;
}

int main(int argc, char **argv)
{
    char address[64];
    snprintf(address, sizeof address, "127.0.0.1:%s", argc > 1 ? argv[1] : "0");
    const char *options[] = {"listening_ports", address, "num_threads", "8", NULL};
    const struct mg_callbacks callbacks = {.begin_request = NULL};
    struct mg_server_port port;
    struct mg_context *server = mg_start(&callbacks, NULL, options);
    if (server == NULL || mg_get_server_ports(server, 1, &port) != 1) {
        fprintf(stderr, "http_civetweb: the server does not start\n");
        return 1;
    }
    mg_set_request_handler(server, "/debug/pprof", answer_request, NULL);
    printf("http://127.0.0.1:%d/debug/pprof/\n", port.port);
    fflush(stdout);
    while (getchar() != EOF) {
    }
    mg_stop(server);
    return 0;
}
