/* SPDX-License-Identifier: MIT
 *
 * pprof_http_door.h: the interface between libpprof and libpprof-http, beside <pprof_http.h>. Not
 * for programs, and not installed.
 *
 *   libpprof-http --> pprof_http_door.begin_thread(), ...      what only libpprof can do
 *   libpprof      --> pprof_http_events.after_fork_in_child()  what the server has to know
 */
#ifndef PPROF_HTTP_DOOR_H
#define PPROF_HTTP_DOOR_H

#include <pprof_http.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Both sides must have the same version, which changes with everything below. */
#define PPROF_HTTP_DOOR_VERSION 5

/* Functions of the server, which libpprof calls. */
typedef struct pprof_http_events {
    /* In the child of fork, on its only thread: closes what the child has inherited. */
    void (*after_fork_in_child)(void);
    /* The program is about to install a seccomp filter: ends the server. */
    void (*before_confinement)(void);
    /* Whether the server itself has opened this descriptor. */
    bool (*has_descriptor)(int fd);
    /* pprof_http_address(). */
    int (*http_address)(char *buffer, size_t capacity);
    /* The process is about to execute another program, which may fail; or it ends, in the handler
     * of a fatal signal at the latest. */
    void (*before_exec)(void);
    void (*at_end)(void);
} pprof_http_events;

/* A thread that ends before the program changes its identity, and begins again after that: the
 * members are those of pp_pausable (src/host/pausable.h). */
typedef struct pprof_http_thread {
    const char *name;
    size_t stack_bytes;
    bool (*run)(void *context);
    void (*wake)(void *context);
    void (*lost)(void *context);
    void *context;
} pprof_http_thread;

typedef struct pprof_http_door {
    uint32_t version; /* first in every version */
    /* Called once; `events` stays valid for ever. */
    void (*listen)(const pprof_http_events *events);
    /* The page that shows a profile, compressed by gzip; stays valid for ever. */
    void (*set_page)(const void *gzip, size_t size);
    /* pp_pausable_begin(), pp_pausable_end() and pp_pausables_pause(). The thread is in no profile. */
    int (*begin_thread)(const pprof_http_thread *thread);
    void (*end_thread)(const void *context);
    bool (*pauses)(void);
    /* Around each wait of the thread: pp_loader_go_out() and pp_loader_go_in() (src/modules/loader_use.h). */
    void (*waits)(bool begins);
    /* pp_apart_leave() (src/sys/apart.h): the calling thread leaves the program's table of descriptors. */
    bool (*leave_table)(int kept);
    /* pp_apart_may_leave(). Called on the thread that starts the server. */
    bool (*may_leave_table)(void);
    /* Whether all threads of the program have ended: the calling thread must not be the last. */
    bool (*is_alone)(void);
    /* Whether two answers that are due would have the same bytes if they were given at the same
     * moment, and giving one of them has no effect that the other one misses. */
    bool (*are_same)(const pprof_http_answer *x, const pprof_http_answer *y);
    /* Writes a message to the log. */
    void (*log)(const char *message);
    /* pprof_http_begin() for a client of the control socket (docs/CONTROL.md). */
    int (*begin_control)(const pprof_http_request *request, pprof_http_answer **answer,
                         uint64_t *wait_ns);
} pprof_http_door;

extern const pprof_http_door pprof_http_door_5;

/*
 * In libpprof-http: listens on the control socket, if it does not already. `path` is the socket's;
 * NULL: one in the user's own folder. 0, or -errno, which is also on the log.
 */
PPROF_API int pprof_control_serve(const char *path);

/* Ends it, if it is there: its connections, its thread and its file. */
PPROF_API void pprof_control_end(void);

/* Where it is, with a NUL; the errors are those of pprof_http_address(). */
PPROF_API int pprof_control_path(char *buffer, size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
