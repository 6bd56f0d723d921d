/* SPDX-License-Identifier: MIT
 *
 * http_option.c: finds pprof_http_serve_opts() in the program if that is linked to libpprof-http,
 * or else loads libpprof-http.so.0 from this library's folder, or from where the loader looks.
 *
 * Zone: NORMAL.
 * Owns: the address, and the path of the token.
 * Tested by: e2e.http_option
 */
#include "web/http_option.h"

#include "base/text.h"
#include "modules/loader.h"
#include "sys/log.h"
#include "sys/own_files.h"
#include "sys/own_work.h"

#include "pprof_http.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

typedef int serve_function(const char *address, const pprof_http_options *options);

enum { ADDRESS_MAX = 256 };

static const char file_name[] = "libpprof-http.so.0";
static const char symbol_name[] = "pprof_http_serve_opts";

static struct {
    char address[ADDRESS_MAX]; /* "": none was asked for */
    char token[PATH_MAX];      /* "": no token */
} asked;

/* Is NULL unless the program is linked to libpprof-http. */
#pragma weak pprof_http_serve_opts

static int take(const char *value, char *to, size_t capacity)
{
    if (value == NULL || *value == '\0' || strlen(value) >= capacity) {
        return -EINVAL;
    }
    memcpy(to, value, strlen(value) + 1);
    return 0;
}

int pp_http_option_take_address(const char *value)
{
    bool has_port = value != NULL && strchr(value, ':') != NULL;
    return has_port ? take(value, asked.address, sizeof asked.address) : -EINVAL;
}

int pp_http_option_take_token(const char *value)
{
    return take(value, asked.token, sizeof asked.token);
}

/* The path of the file in this library's folder, or else only its name. */
static const char *find_file(char path[PATH_MAX])
{
    if (pp_loader_own_folder(path, PATH_MAX - sizeof file_name)) {
        memcpy(path + strlen(path), file_name, sizeof file_name);
        int fd = pp_own_open(path, O_RDONLY, 0);
        if (fd >= 0) {
            pp_own_close(fd);
            return path;
        }
    }
    return file_name;
}

static serve_function *load(pp_text *why)
{
    char path[PATH_MAX];
    if (pp_loader_is_suspect()) {
        pp_text_add(why, "a child of fork cannot load it");
        return NULL;
    }
    pp_own_work_begin();
    const void *found = pp_loader_load(find_file(path), symbol_name, why);
    pp_own_work_end();
    return (serve_function *)(uintptr_t)found;
}

static int serve(void)
{
    pp_text why = PP_TEXT_INIT;
    serve_function *found = pprof_http_serve_opts;
    found = found != NULL ? found : load(&why);
    if (found == NULL) {
        pp_text text = PP_TEXT_INIT;
        pp_text_add(&text, "http: no server, libpprof-http.so.0 could not be loaded: ");
        pp_text_add(&text, why.data);
        pp_log(&text);
        return -ENOENT;
    }
    const pprof_http_options options = {.size = sizeof options,
                                        .token_file = asked.token[0] != '\0' ? asked.token : NULL};
    int error = found(asked.address, &options);
    if (error != 0 && error != -EALREADY) {
        pp_log_error("http: no server at ", asked.address, error, NULL);
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
