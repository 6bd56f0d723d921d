/* SPDX-License-Identifier: MIT
 *
 * serve.c: the functions of <pprof_http.h> that start and stop the server of the process.
 *
 * Owns: the service and its address.
 * Tested by: e2e.http_server, e2e.http_guest
 */
#include "address.h"
#include "service.h"

#include <pprof_http.h>
#include <pprof_http_door.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define SERVER_API __attribute__((visibility("default")))

static struct {
    service service;
    char address[ADDRESS_TEXT_MAX];
} served; /* begins as 0: see service.h */

/* ---- start ---- */

/* Also names what must not be missed: a port that was chosen, and an address for others. */
static void tell_address(const server_address *a, bool chosen)
{
    char message[ADDRESS_TEXT_MAX + 128];
    if (!a->is_loopback) {
        snprintf(message, sizeof message,
                 "http: %s is not loopback: whoever reaches it can read the profiles of this "
                 "process",
                 served.address);
        pprof_http_door_5.log(message);
    }
    if (chosen) {
        snprintf(message, sizeof message, "http://%s/debug/pprof/", served.address);
        pprof_http_door_5.log(message);
    }
}

static int open_all(server_address *a)
{
    connection_rules *rules = &served.service.server.rules;
    int fd = address_listen(a);
    if (fd < 0) {
        return fd;
    }
    rules->only_loopback_hosts = a->is_loopback && !a->is_local && rules->token.length == 0;
    if (a->is_local) {
        service_keep_file(&served.service, AT_FDCWD, "", a->at.local.sun_path);
    }
    address_text(a, served.address);
    return service_open(&served.service, fd, "libpprof-http");
}

/* A user who has set an option sees only the errors on the log. */
static int read_token(connection_rules *rules, const char *file)
{
    char message[512];
    int error = token_read(&rules->token, file);
    if (error == -EINVAL) {
        snprintf(message, sizeof message,
                 "http: %.400s: expected a token of %d to %d characters in the first line", file,
                 TOKEN_MIN, TOKEN_MAX);
    } else if (error != 0) {
        snprintf(message, sizeof message, "http: %.400s: the token cannot be read", file);
    }
    if (error != 0) {
        pprof_http_door_5.log(message);
    }
    return error;
}

static int start(const char *text, const char *token_file)
{
    server_address a;
    int error = address_read(&a, text);
    bool chooses = error == 0 && strlen(text) > 2 && strcmp(text + strlen(text) - 2, ":0") == 0;
    if (error == 0 && token_file != NULL) {
        error = read_token(&served.service.server.rules, token_file);
    }
    if (error == 0) {
        error = open_all(&a);
    }
    if (error == 0) {
        tell_address(&a, chooses);
    }
    return error;
}

/* A server that has ended by itself makes room for the next one. */
static void end_if_over(void)
{
    if (!service_runs(&served.service)) {
        pprof_http_stop();
    }
}

SERVER_API int pprof_http_serve_opts(const char *address, const pprof_http_options *options)
{
    if (address == NULL || (options != NULL && options->size < sizeof *options)) {
        return -EINVAL;
    }
    service_watch(&served.service);
    end_if_over();
    if (!service_claim(&served.service)) {
        return -EALREADY;
    }
    int error = start(address, options != NULL ? options->token_file : NULL);
    return service_settle(&served.service, error);
}

SERVER_API int pprof_http_serve(const char *address)
{
    return pprof_http_serve_opts(address, NULL);
}

/* ---- end ---- */

SERVER_API int pprof_http_stop(void)
{
    service_stop(&served.service);
    return 0;
}

SERVER_API int pprof_http_address(char *buffer, size_t capacity)
{
    if (!service_runs(&served.service)) {
        return -ENOTCONN;
    }
    size_t size = strlen(served.address) + 1;
    if (buffer == NULL || size > capacity) {
        return -ENOSPC;
    }
    memcpy(buffer, served.address, size);
    return 0;
}
