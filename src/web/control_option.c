/* SPDX-License-Identifier: MIT
 *
 * control_option.c: calls pprof_control_serve(), which is in libpprof-http. The child of fork calls
 * it again: the library is loaded there, too.
 *
 * Zone: NORMAL.
 * Owns: the template of the path; the function, once it was found.
 * Tested by: e2e.control
 */
#include "web/control_option.h"

#include "host/dispositions.h"
#include "sys/path_template.h"
#include "web/server_library.h"

#include "pprof_http_door.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef int serve_function(const char *path);
typedef void end_function(void);

/* Are NULL unless the program is linked to libpprof-http. */
#pragma weak pprof_control_serve
#pragma weak pprof_control_end

static struct {
    bool is_wanted;
    char template[PATH_MAX]; /* "": the user's own folder */
    char path[PATH_MAX];
    serve_function *serve; /* NULL: not found yet */
    end_function *end;     /* the same */
    bool was_asked_for;    /* by the option */
} state;

int pp_control_option_take(const char *value)
{
    char template[PATH_MAX] = "";
    if (value != NULL && (*value == '\0' || !pp_path_template_is_valid(value))) {
        return -EINVAL;
    }
    int error =
        value != NULL ? pp_path_template_complete(template, sizeof template, value, false) : 0;
    if (error != 0) {
        return error;
    }
    memcpy(state.template, template, sizeof template);
    state.is_wanted = state.was_asked_for = true;
    return 0;
}

/* NULL: the path is the library's to choose. */
static const char *fill_in_path(void)
{
    const pp_path_values values = {.kind = "control"};
    pp_path path = pp_path_begin(state.path, sizeof state.path);
    pp_path_add_template(&path, state.template, &values);
    return path.length > 0 ? path.data : NULL;
}

static int find_server(void)
{
    static const char refusal[] = "control: no socket";
    if (state.serve == NULL) {
        state.serve = pprof_control_serve;
        state.end = pprof_control_end;
    }
    if (state.serve == NULL) {
        state.serve = (serve_function *)(uintptr_t)pp_server_library_find(
            PP_HTTP_LIBRARY, "pprof_control_serve", refusal);
    }
    if (state.serve != NULL && state.end == NULL) {
        state.end = (end_function *)(uintptr_t)pp_server_library_find(PP_HTTP_LIBRARY,
                                                                      "pprof_control_end", refusal);
    }
    return state.serve != NULL ? 0 : -ENOENT;
}

int pp_control_option_start(void)
{
    if (!state.is_wanted) {
        return 0;
    }
    int saved_errno = errno;
    int error = find_server();
    if (error == 0) {
        pp_hook_fatal_signals(); /* they remove the socket, too */
        error = state.serve(fill_in_path());
    }
    state.is_wanted = error == 0;
    errno = saved_errno;
    return error;
}

int pp_control_option_begin(void)
{
    state.is_wanted = true;
    return pp_control_option_start();
}

void pp_control_option_end(void)
{
    if (!state.was_asked_for && state.end != NULL) {
        state.is_wanted = false;
        state.end();
    }
}

void pp_control_option_forget(void)
{
    state.is_wanted = state.was_asked_for = false;
    state.template[0] = '\0';
}

void pp_control_option_after_fork_in_child(bool goes_on)
{
    state.is_wanted = state.is_wanted && goes_on;
    state.was_asked_for = state.was_asked_for && goes_on;
    pp_control_option_start();
}
