/* SPDX-License-Identifier: MIT
 *
 * fetch.c: see fetch.h.
 *
 * Owns: libcurl, which stays loaded; a transfer for the length of a call.
 * Tested by: e2e.cpprof_sources.
 */
#include "ask/fetch.h"

#include "ask/source_root.h"
#include "ask/token_file.h"
#include "base/clock.h"
#include "base/message.h"
#include "base/meter.h"
#include "base/pool.h"
#include "profile/protobuf.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_PATH  "/debug/pprof/profile"
#define LEAST_SECONDS 30 /* a path that is not libpprof's may take time, too */
#define GRACE_SECONDS 60

/* The numbers of libcurl's options are part of its interface and never change. */
enum {
    OPTION_TIMEOUT = 13,
    OPTION_FOLLOW_LOCATION = 52,
    OPTION_NO_PROGRESS = 43,
    OPTION_NO_SIGNAL = 99,
    OPTION_WRITE_DATA = 10001,
    OPTION_URL = 10002,
    OPTION_ERROR_BUFFER = 10010,
    OPTION_PROGRESS_DATA = 10057,
    OPTION_USER_AGENT = 10018,
    OPTION_HTTP_AUTH = 107,
    OPTION_BEARER = 10220, /* since 7.61, as the next one for HTTP */
    AUTH_BEARER = 1 << 6,
    OPTION_UNIX_SOCKET = 10231,
    OPTION_WRITE_FUNCTION = 20011,
    OPTION_PROGRESS_FUNCTION = 20219,
    INFO_RESPONSE_CODE = 0x200002,
    COULD_NOT_CONNECT = 7, /* CURLE_COULDNT_CONNECT */
    UNAUTHORIZED = 401,
    ERROR_BUFFER_BYTES = 256
};

typedef struct curl {
    void *(*init)(void);
    int (*setopt)(void *transfer, int option, ...);
    int (*perform)(void *transfer);
    int (*getinfo)(void *transfer, int info, ...);
    const char *(*strerror)(int code);
    void (*cleanup)(void *transfer);
} curl;

typedef struct answer {
    cp_bytes *bytes;
    size_t limit;
    bool too_long;
} answer;

bool cp_fetch_is_url(const char *source)
{
    static const char *const schemes[] = {"http://", "https://", "unix:/"};

    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        if (strncmp(source, schemes[i], strlen(schemes[i])) == 0) {
            return true;
        }
    }
    return false;
}

static bool load(curl *c)
{
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
    void *library = NULL;

    for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++) {
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    }
    if (!library) {
        return false;
    }
    *(void **)&c->init = dlsym(library, "curl_easy_init");
    *(void **)&c->setopt = dlsym(library, "curl_easy_setopt");
    *(void **)&c->perform = dlsym(library, "curl_easy_perform");
    *(void **)&c->getinfo = dlsym(library, "curl_easy_getinfo");
    *(void **)&c->strerror = dlsym(library, "curl_easy_strerror");
    *(void **)&c->cleanup = dlsym(library, "curl_easy_cleanup");
    return c->init && c->setopt && c->perform && c->getinfo && c->strerror && c->cleanup;
}

/* libcurl calls it with each piece of the answer. */
static size_t take_body(const char *data, size_t size, size_t count, void *context)
{
    answer *a = context;
    size_t length = size * count;

    if (a->bytes->length + length > a->limit) {
        a->too_long = true;
        return 0;
    }
    cp_bytes_append(a->bytes, data, length);
    return length;
}

/* ---- addresses ---- */

typedef struct address {
    char *url;
    char *socket; /* or NULL */
} address;

static bool has_path(const char *url)
{
    const char *path = strchr(strstr(url, "://") + 3, '/');

    return path && path[1];
}

static address parse(const char *source)
{
    const size_t scheme = strlen("unix:");
    address a = {NULL, NULL};

    if (strncmp(source, "unix:", scheme) != 0) {
        size_t length = strlen(source);
        bool slash = source[length - 1] == '/';
        a.url = has_path(source)
                    ? cp_heap_copy(source, length)
                    : cp_heap_printf("%.*s" DEFAULT_PATH, (int)(length - slash), source);
        return a;
    }
    const char *path = strstr(source + scheme, ":/");
    size_t length = path ? (size_t)(path - source) - scheme : strlen(source + scheme);
    a.socket = cp_heap_copy(source + scheme, length);
    a.url = cp_heap_printf("http://localhost%s", path ? path + 1 : DEFAULT_PATH);
    return a;
}

/* ---- progress ---- */

typedef struct waiting {
    cp_meter meter;
    int64_t start_ns;
    uint64_t seconds; /* for which the server records; 0: it answers at once */
} waiting;

static waiting begin_waiting(const char *url)
{
    waiting w = {.start_ns = cp_now_ns(), .seconds = cp_source_seconds(url)};

    cp_meter_begin(&w.meter, w.seconds ? "the server records" : "fetching",
                   w.seconds ? "s" : "bytes");
    return w;
}

/* libcurl calls it with the bytes that came, and about once a second while none come. */
static int show_progress(void *context, int64_t all, int64_t got, int64_t to_send, int64_t sent)
{
    waiting *w = context;

    (void)to_send, (void)sent;
    if (w->seconds) {
        cp_meter_step(&w->meter, (uint64_t)(cp_now_ns() - w->start_ns) / 1000000000, w->seconds);
    } else {
        cp_meter_step(&w->meter, (uint64_t)got, (uint64_t)all);
    }
    return 0;
}

/* ---- transfers ---- */

/* Says what the server answered instead of a profile. */
static int refuse(const char *source, long code, const cp_bytes *bytes, cp_error *error)
{
    size_t length = 0;

    while (length < bytes->length && length < 200 && bytes->data[length] >= ' ') {
        length++;
    }
    return cp_fail(error, "%.500s: expected the answer 200, found %ld%s%.*s%s", source, code,
                   length ? ": " : "", (int)length, (const char *)bytes->data,
                   code == UNAUTHORIZED ? "; --token-file names a file with the token" : "");
}

/* Makes libcurl send the token, if there is one. */
static int send_token(const curl *c, void *handle, const char *source, cp_error *error)
{
    char token[CP_TOKEN_BYTES];

    if (cp_token_read(token, error) < 0) {
        return -1;
    }
    if (!*token) {
        return 0;
    }
    if (c->setopt(handle, OPTION_HTTP_AUTH, (long)AUTH_BEARER) != 0 ||
        c->setopt(handle, OPTION_BEARER, token) != 0) {
        return cp_fail(error, "%.500s: this libcurl cannot send a token; 7.61 and later can",
                       source);
    }
    return 0;
}

static int transfer(const curl *c, void *handle, const char *source, const address *a, answer *into,
                    cp_error *error)
{
    char message[ERROR_BUFFER_BYTES] = "";
    long code = 0;

    c->setopt(handle, OPTION_URL, a->url);
    c->setopt(handle, OPTION_UNIX_SOCKET, a->socket);
    c->setopt(handle, OPTION_FOLLOW_LOCATION, 1L);
    c->setopt(handle, OPTION_NO_SIGNAL, 1L);
    c->setopt(handle, OPTION_USER_AGENT, "cpprof/" CP_VERSION);
    c->setopt(handle, OPTION_ERROR_BUFFER, message);
    c->setopt(handle, OPTION_WRITE_FUNCTION, take_body);
    c->setopt(handle, OPTION_WRITE_DATA, into);
    waiting w = begin_waiting(a->url);
    c->setopt(handle, OPTION_TIMEOUT,
              (long)(w.seconds ? w.seconds : LEAST_SECONDS) + GRACE_SECONDS);
    c->setopt(handle, OPTION_PROGRESS_FUNCTION, show_progress);
    c->setopt(handle, OPTION_PROGRESS_DATA, &w);
    c->setopt(handle, OPTION_NO_PROGRESS, 0L);
    int status = c->perform(handle);
    cp_meter_end(&w.meter);
    if (into->too_long) {
        return cp_fail(error, "%.500s: expected at most %zu bytes, found more", source,
                       into->limit);
    }
    if (status == COULD_NOT_CONNECT && a->socket) {
        return cp_fail(error, "%.500s: nobody listens on the socket %.400s", source, a->socket);
    }
    if (status != 0) {
        return cp_fail(error, "%.500s: cannot fetch: %s", source,
                       *message ? message : c->strerror(status));
    }
    c->getinfo(handle, INFO_RESPONSE_CODE, &code);
    return code == 200 ? 0 : refuse(source, code, into->bytes, error);
}

int cp_fetch(const char *source, size_t limit, cp_bytes *bytes, cp_error *error)
{
    curl c = {NULL};

    if (!load(&c)) {
        return cp_fail(error,
                       "%.500s: expected libcurl to fetch it with, found none; install libcurl4",
                       source);
    }
    void *handle = c.init();
    if (!handle) {
        return cp_fail(error, "%.500s: libcurl cannot start", source);
    }
    address a = parse(source);
    answer into = {.bytes = bytes, .limit = limit};
    int status = send_token(&c, handle, source, error);
    if (status == 0) {
        status = transfer(&c, handle, source, &a, &into, error);
    }
    c.cleanup(handle);
    free(a.url);
    free(a.socket);
    return status;
}
