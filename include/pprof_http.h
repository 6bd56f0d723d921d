/* SPDX-License-Identifier: MIT
 *
 * pprof_http.h: /debug/pprof/ in a C program [net/http/pprof].
 *
 *   pprof_http_serve("127.0.0.1:6060")       a server of its own; in libpprof-http
 *   pprof_http_handle(&request, &response)   a request of a server that the program has; in libpprof
 *   pprof_http_begin(), pprof_http_finish()  the same in two steps, for a server that must not wait
 *
 * Every function returns 0 or a negative errno unless it says otherwise. Nothing here ever aborts
 * or prints inside the host program. docs/HTTP.md lists the paths and their parameters.
 */
#ifndef PPROF_HTTP_H
#define PPROF_HTTP_H

#include <pprof.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
/* Keeps a linker from leaving libpprof out of a program that calls libpprof-http only: libpprof's
 * hooks must come before libc's functions, so the program itself has to need it. */
__attribute__((used)) static unsigned (*const pprof_http_needs_libpprof_)(void) =
    pprof_version_number;
#endif

/* ---- A server (link with -lpprof-http) ------------------------------------------------------ */

/*
 * Serves /debug/pprof/ from a thread of its own, which blocks all signals and is in no profile.
 *
 *   "127.0.0.1:6060", "[::1]:0"   a numeric address and a port; port 0: any free port
 *   "localhost:6060", ":6060"     127.0.0.1
 *   "unix:/path"                  a socket of mode 0600; one that no process serves is replaced
 *
 * Returns once clients can connect. An address that is not loopback is named on the log: whoever
 * reaches it can read the profiles and names of the program. Bound to loopback, and without a
 * token, the server answers only requests whose Host is loopback, too.
 *
 * Errors: -EINVAL (the address), -EALREADY (a server runs), -EADDRINUSE and other errors of
 * socket(), bind() and pthread_create(). Callable from any thread; not async-signal-safe.
 */
PPROF_API int pprof_http_serve(const char *address);

/*
 * size        sizeof(pprof_http_options), so that fields can be added later; less is -EINVAL
 * token_file  NULL, or a file whose first line is a secret: requests need the header
 *             "Authorization: Bearer SECRET". It is read once. -EINVAL if that line has fewer than
 *             16 or more than 255 characters.
 */
typedef struct pprof_http_options {
    size_t size;
    const char *token_file;
} pprof_http_options;

/* pprof_http_serve() with options; NULL means all defaults. */
PPROF_API int pprof_http_serve_opts(const char *address, const pprof_http_options *options);

/*
 * Ends the server, its connections, and what it collects for them; returns after that. 0, also if
 * no server runs. In the child of fork there is no server. Callable from any thread; not
 * async-signal-safe.
 */
PPROF_API int pprof_http_stop(void);

/*
 * Stores where the server is: "127.0.0.1:43211", "[::1]:6060", "unix:/path", with a NUL. -ENOTCONN
 * if none runs, -ENOSPC if `capacity` is too small. Thread-safe.
 */
PPROF_API int pprof_http_address(char *buffer, size_t capacity);

/* ---- A request of a server that the program has (in libpprof) ------------------------------- */

typedef struct pprof_http_header {
    const char *name, *value; /* valid during the call */
} pprof_http_header;

/*
 * size     sizeof(pprof_http_request); less is -EINVAL
 * method   "GET", "HEAD" or "POST"; others are answered by 405
 * target   as in the request's first line: a path and, after '?', a query, both still encoded. It
 *          begins with "/debug/pprof/" or "/pprof/"; others are answered by 404.
 * body     of a POST, whole; NULL and 0 if there is none
 * wait     NULL, or a function that pprof_http_handle() calls while a profile is collected. It
 *          sleeps for `nanoseconds`, or less, and returns 0; or it returns anything else if the
 *          client is gone, which ends the collection. Called with at most 100 ms.
 * headers  of the request, all or those that are used: Host, Origin, Sec-Fetch-Site, Sec-Fetch-Dest.
 *          By these a browser tells that a page of another site makes it ask; such a page gets 403
 *          for what collects or changes something. A value may be NULL: there is no such header.
 *          NULL and 0: the server does not tell, and any page can make the program sample.
 *
 * All texts are the caller's, and are not needed after the call.
 */
typedef struct pprof_http_request {
    size_t size;
    const char *method;
    const char *target;
    const void *body;
    size_t body_size;
    int (*wait)(void *ctx, uint64_t nanoseconds);
    void *ctx;
    const pprof_http_header *headers;
    size_t header_count;
} pprof_http_request;

/*
 * size    sizeof(pprof_http_response); less is -EINVAL
 * begin   called once, with the status and the headers (Content-Type among them, no Content-Length)
 * write   called for each piece of the body, after begin; never for HEAD
 *
 * Both return 0 or a negative errno. After the first error neither is called again.
 */
typedef struct pprof_http_response {
    size_t size;
    int (*begin)(void *ctx, int status, const pprof_http_header *headers, size_t count);
    int (*write)(void *ctx, const void *data, size_t len);
    void *ctx;
} pprof_http_response;

/*
 * Answers a request on the calling thread. Waits as long as the request asks for (`seconds`); a
 * server that must not be held up uses the three functions below, or a thread for each request.
 *
 * 0 if an answer was given, whatever its status; -ECANCELED if `wait` ended the collection; -EINVAL
 * for an incomplete request or response; -ENOMEM; the first error of begin() or write(). Callable
 * from any thread, several at a time; not async-signal-safe. A thread that is cancelled meanwhile ends
 * after the call, as with the three functions below.
 */
PPROF_API int pprof_http_handle(const pprof_http_request *request, pprof_http_response *response);

typedef struct pprof_http_answer pprof_http_answer;

/*
 * Begins to answer a request: collects nothing, or begins to. Stores when pprof_http_finish() is
 * due, in nanoseconds from now: 0, or the `seconds` of the request. 0, -EINVAL or -ENOMEM. `wait`
 * of the request is not used. Callable from any thread.
 */
PPROF_API int pprof_http_begin(const pprof_http_request *request, pprof_http_answer **answer,
                               uint64_t *wait_ns);

/* Gives the answer, with what was collected until now, and frees it. As pprof_http_handle(). Any
 * thread, one at a time. */
PPROF_API int pprof_http_finish(pprof_http_answer *answer, pprof_http_response *response);

/* Frees the answer instead: the client is gone. What was collected for it ends. NULL is ignored. */
PPROF_API void pprof_http_cancel(pprof_http_answer *answer);

#ifdef __cplusplus
}
#endif
#endif
