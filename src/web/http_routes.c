/* SPDX-License-Identifier: MIT
 *
 * http_routes.c: splits the target, and looks its name up: first among the paths that are no
 * profiles, then among the kinds.
 *
 * Zone: NORMAL.
 * Tested by: e2e.http_contract, e2e.deadlocks
 */
#include "web/http_routes.h"

#include "host/kind.h"
#include "web/http_paths.h"
#include "web/http_query.h"
#include "modules/modules.h"
#include "symbol/known_names.h"

#include <string.h>

enum { MAX_NAME = 4096 };

static const char not_found[] = "404 page not found";

static void refuse_trace(pprof_http_answer *answer)
{
    pp_http_fail(answer, 501,
                 "libpprof has no execution traces: ask for profile, block, mutex or thread");
}

typedef struct route {
    const char *name;
    void (*begin)(pprof_http_answer *answer);
    bool takes_post;
} route;

static const route routes[] = {
    {"", pp_http_index, false},       {"cmdline", pp_http_command_line, false},
    {"symbol", pp_http_symbol, true}, {"flame", pp_http_page, false},
    {"trace", refuse_trace, false},
};

static const route *find_route(const char *name)
{
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        if (strcmp(routes[i].name, name) == 0) {
            return &routes[i];
        }
    }
    return NULL;
}

static const char *without_alias(const char *name)
{
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        const pprof_profile *p = pp_kinds[i]->profiles;
        for (; p != NULL && p->name != NULL; p++) {
            if (p->alias != NULL && strcmp(p->alias, name) == 0) {
                return p->name;
            }
        }
    }
    return name;
}

static const pp_kind_text *text_of(const char *name)
{
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        const pp_kind_text *text = pp_kinds[i]->text;
        if (text != NULL && strcmp(text->name, name) == 0) {
            return text;
        }
    }
    return NULL;
}

static int write_text(pprof_http_answer *answer, pprof_writer writer)
{
    const pp_kind_text *text = text_of(answer->name);
    pp_modules_refresh();
    return text->write(writer);
}

/* Begins to answer if the name is that of a text; else false. */
static bool begin_text(pprof_http_answer *answer)
{
    bool found = text_of(answer->name) != NULL;
    if (found) {
        pp_http_succeed(answer, PP_HTTP_TEXT, write_text);
    }
    return found;
}

static bool is_allowed(const char *method, bool takes_post)
{
    return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 ||
           (takes_post && strcmp(method, "POST") == 0);
}

static void begin_named(pprof_http_answer *answer)
{
    const route *found = find_route(answer->name);
    if (!is_allowed(answer->method, found != NULL && found->takes_post)) {
        pp_http_fail(answer, 405, "method not allowed");
        answer->header_name = "Allow";
        answer->header_value = found != NULL && found->takes_post ? "GET, HEAD, POST" : "GET, HEAD";
        return;
    }
    if (answer->site == PP_HTTP_EMBEDDED && pp_http_refuses_site(answer)) {
        return;
    }
    if (found != NULL) {
        found->begin(answer);
        return;
    }
    answer->name = without_alias(answer->name);
    if (!pp_http_timed(answer) && !begin_text(answer)) {
        pp_http_profile(answer);
    }
}

/* What follows the prefix; NULL: the path has another one. */
static const char *after_prefix(const char *path)
{
    static const char *const prefixes[] = {"/debug/pprof/", "/pprof/"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i]);
        if (strncmp(path, prefixes[i], length) == 0) {
            return path + length;
        }
    }
    return NULL;
}

/* A target may be a whole URL: "http://host/path". */
static const char *path_of(const char *target)
{
    const char *host = strstr(target, "://");
    const char *slash = strchr(target, '/');
    if (host == NULL || *target == '/' || slash != host + 1) {
        return target;
    }
    const char *path = strchr(host + 3, '/');
    return path != NULL ? path : "/";
}

static void redirect(pprof_http_answer *answer, const char *location)
{
    answer->status = 301;
    answer->error = "Moved Permanently";
    answer->type = PP_HTTP_TEXT;
    answer->header_name = "Location";
    answer->header_value = location;
}

void pp_http_route(pprof_http_answer *answer, const char *target)
{
    const char *path = path_of(target);
    size_t length = strcspn(path, "?");
    const char *name = after_prefix(path);
    pp_known_names_permit(); /* more requests will come */
    answer->query = path[length] == '?' ? path + length + 1 : "";
    if (length == strlen("/debug/pprof") && strncmp(path, "/debug/pprof", length) == 0) {
        redirect(answer, "/debug/pprof/");
        return;
    }
    if (name == NULL) {
        pp_http_fail(answer, 404, not_found);
        return;
    }
    char *decoded = pp_arena_array(&answer->arena, MAX_NAME, 1);
    if (decoded == NULL ||
        !pp_http_decode(name, (size_t)(path + length - name), false, decoded, MAX_NAME)) {
        pp_http_fail(answer, 404, "Unknown profile");
        return;
    }
    answer->name = decoded;
    begin_named(answer);
}
