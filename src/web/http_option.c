/* SPDX-License-Identifier: MIT
 *
 * http_option.c: finds pprof_http_serve_opts() in the program if that is linked to libpprof-http,
 * or else loads libpprof-http.
 *
 * Zone: NORMAL.
 * Owns: the address, and the path of the token.
 * Tested by: e2e.http_option, e2e.http_children
 */
#include "web/http_option.h"

#include "sys/log.h"
#include "sys/own_work.h"
#include "sys/path_template.h"
#include "web/http_proc.h"
#include "web/server_library.h"

#include "pprof_http.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

typedef int serve_function(const char *address, const pprof_http_options *options);

enum { ADDRESS_MAX = 256 };

static const char unix_prefix[] = "unix:";
static const char symbol_name[] = "pprof_http_serve_opts";

static struct {
    char address[ADDRESS_MAX]; /* "": none was asked for */
    char token[PATH_MAX];      /* "": no token */
} asked;

/* Is NULL unless the program is linked to libpprof-http. */
#pragma weak pprof_http_serve_opts

static int copy_value(const char *value, char *to, size_t capacity)
{
    if (value == NULL || *value == '\0' || strlen(value) >= capacity) {
        return -EINVAL;
    }
    memcpy(to, value, strlen(value) + 1);
    return 0;
}

/* Placeholders are for paths: an IPv6 address has % before its interface. */
static bool is_template(const char *address)
{
    return strncmp(address, unix_prefix, strlen(unix_prefix)) == 0;
}

int pp_http_option_take_address(const char *value)
{
    bool has_port = value != NULL && strchr(value, ':') != NULL;
    bool is_good = has_port && (!is_template(value) || pp_path_template_is_valid(value));
    return is_good ? copy_value(value, asked.address, sizeof asked.address) : -EINVAL;
}

int pp_http_option_take_token(const char *value)
{
    return copy_value(value, asked.token, sizeof asked.token);
}

static void expand(char to[ADDRESS_MAX])
{
    pp_path path = pp_path_begin(to, ADDRESS_MAX);
    const pp_path_values values = {.kind = "http"};
    if (is_template(asked.address)) {
        pp_path_add_template(&path, asked.address, &values);
    } else {
        pp_path_add(&path, asked.address);
    }
}

/* With `subprocesses` all processes ask for the same address, and the first one gets it. It, or
 * what it has started meanwhile, is this one's parent. */
static bool is_taken_by_parent(int error)
{
    return error == -EADDRINUSE && pp_http_parent_has_options();
}

static int serve(void)
{
    serve_function *found = pprof_http_serve_opts;
    if (found == NULL) {
        found = (serve_function *)(uintptr_t)pp_server_library_find(PP_HTTP_LIBRARY, symbol_name,
                                                                    "http: no server");
    }
    if (found == NULL) {
        return -ENOENT;
    }
    char address[ADDRESS_MAX];
    expand(address);
    const pprof_http_options options = {.size = sizeof options,
                                        .token_file = asked.token[0] != '\0' ? asked.token : NULL};
    pp_own_work_begin(); /* the thread's memory */
    int error = found(address, &options);
    pp_own_work_end();
    if (error != 0 && error != -EALREADY && !is_taken_by_parent(error)) {
        pp_log_error("http: no server at ", address, error, NULL);
    }
    return error == -EALREADY ? 0 : error;
}

int pp_http_option_start(void)
{
    int saved_errno = errno;
    int error = asked.address[0] != '\0' ? serve() : 0;
    asked.address[0] = '\0';
    errno = saved_errno;
    return error;
}
