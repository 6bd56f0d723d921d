/* SPDX-License-Identifier: MIT
 *
 * serve.c: the functions of <pprof_http.h> that start and stop the server of the process.
 *
 *   IDLE --(serve)--> CHANGES --> RUNS --(stop)--> CHANGES --> IDLE
 *
 * Owns: the server, its thread and its address.
 * Tested by: e2e.http_server, e2e.http_guest
 */
#include "address.h"
#include "page_data.h"
#include "server.h"

#include <pprof_http.h>
#include <pprof_http_door.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SERVER_API __attribute__((visibility("default")))

enum { IDLE, CHANGES, RUNS };
enum { STACK_BYTES = 1 << 20 }; /* lines of source take 256 KiB (docs/LIMITS.md) */

static struct {
    int state;
    server server;
    pthread_t thread;
    char address[ADDRESS_TEXT_MAX];
    struct stat socket_file; /* of a unix socket */
} served; /* begins as 0: it takes no room in the file, and no memory before it is used */

static bool change(int from, int to)
{
    return __atomic_compare_exchange_n(&served.state, &from, to, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

/* ---- events ---- */

static bool has_descriptor(int fd)
{
    return __atomic_load_n(&served.state, __ATOMIC_ACQUIRE) != IDLE &&
           server_has(&served.server, fd);
}

static void after_fork_in_child(void)
{
    if (served.state != IDLE) {
        server_forget(&served.server);
    }
    memset(&served.server.rules, 0, sizeof served.server.rules);
    __atomic_store_n(&served.state, IDLE, __ATOMIC_RELEASE);
}

static void before_confinement(void)
{
    pprof_http_stop();
}

static const pprof_http_events events = {.after_fork_in_child = after_fork_in_child,
                                         .before_confinement = before_confinement,
                                         .has_descriptor = has_descriptor};

static void meet_libpprof(void)
{
    pprof_http_door_2.listen(&events);
    pprof_http_door_2.set_page(http_page_data, http_page_size);
}

/* ---- start ---- */

static void *run(void *unused)
{
    server_run(&served.server);
    return unused;
}

/* The thread blocks all signals, so that none of the program's signals is delivered to it. */
static int create_thread(void)
{
    pthread_attr_t attributes;
    sigset_t all;
    sigset_t before;
    int error = pthread_attr_init(&attributes);
    if (error != 0) {
        return -error;
    }
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&served.thread, &attributes, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (error == 0) {
        pthread_setname_np(served.thread, "libpprof-http");
    }
    return -error;
}

/* Also names what must not be missed: a port that was chosen, and an address for others. */
static void tell_address(const server_address *a, bool chosen)
{
    char message[ADDRESS_TEXT_MAX + 128];
    if (!a->is_loopback) {
        snprintf(message, sizeof message,
                 "http: %s is not loopback: whoever reaches it can read the profiles of this "
                 "process",
                 served.address);
        pprof_http_door_2.log(message);
    }
    if (chosen) {
        snprintf(message, sizeof message, "http://%s/debug/pprof/", served.address);
        pprof_http_door_2.log(message);
    }
}

static int open_pipe(server *s)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
        return -errno;
    }
    descriptor_keep(&s->wake[0], ends[0]);
    descriptor_keep(&s->wake[1], ends[1]);
    return 0;
}

static int open_all(server_address *a)
{
    server *s = &served.server;
    int fd = address_listen(a);
    if (fd < 0) {
        return fd;
    }
    descriptor_keep(&s->listener, fd);
    s->rules.only_loopback_hosts = a->is_loopback && !a->is_local && s->rules.token.length == 0;
    if (a->is_local) {
        (void)lstat(a->at.local.sun_path, &served.socket_file);
    }
    address_text(a, served.address);
    int error = open_pipe(s);
    return error == 0 ? create_thread() : error;
}

/* Whoever set an option sees no error but what the log says. */
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
        pprof_http_door_2.log(message);
    }
    return error;
}

static int start(const char *text, const char *token_file)
{
    server_address a;
    server *s = &served.server;
    int error = address_read(&a, text);
    bool chooses = error == 0 && strlen(text) > 2 && strcmp(text + strlen(text) - 2, ":0") == 0;
    server_init(s);
    if (error == 0 && token_file != NULL) {
        error = read_token(&s->rules, token_file);
    }
    if (error == 0) {
        error = open_all(&a);
    }
    if (error != 0) {
        server_close(s);
        return error;
    }
    tell_address(&a, chooses);
    return 0;
}

/* A server that has ended by itself makes room for the next one. */
static void end_if_over(void)
{
    if (__atomic_load_n(&served.server.is_over, __ATOMIC_ACQUIRE)) {
        pprof_http_stop();
    }
}

SERVER_API int pprof_http_serve_opts(const char *address, const pprof_http_options *options)
{
    if (address == NULL || (options != NULL && options->size < sizeof *options)) {
        return -EINVAL;
    }
    meet_libpprof();
    end_if_over();
    if (!change(IDLE, CHANGES)) {
        return -EALREADY;
    }
    int error = start(address, options != NULL ? options->token_file : NULL);
    __atomic_store_n(&served.state, error == 0 ? RUNS : IDLE, __ATOMIC_RELEASE);
    return error;
}

SERVER_API int pprof_http_serve(const char *address)
{
    return pprof_http_serve_opts(address, NULL);
}

/* ---- end ---- */

/* Removes the file of the socket, if it is still the same. */
static void remove_socket_file(void)
{
    static const char prefix[] = "unix:";
    const char *path = served.address + strlen(prefix);
    struct stat present;
    if (strncmp(served.address, prefix, strlen(prefix)) == 0 && lstat(path, &present) == 0 &&
        present.st_ino == served.socket_file.st_ino &&
        present.st_dev == served.socket_file.st_dev) {
        unlink(path);
    }
}

SERVER_API int pprof_http_stop(void)
{
    if (!change(RUNS, CHANGES)) {
        return 0;
    }
    __atomic_store_n(&served.server.stops, true, __ATOMIC_RELEASE);
    server_wake(&served.server);
    pthread_join(served.thread, NULL);
    remove_socket_file();
    __atomic_store_n(&served.state, IDLE, __ATOMIC_RELEASE);
    return 0;
}

SERVER_API int pprof_http_address(char *buffer, size_t capacity)
{
    if (__atomic_load_n(&served.state, __ATOMIC_ACQUIRE) != RUNS ||
        __atomic_load_n(&served.server.is_over, __ATOMIC_ACQUIRE)) {
        return -ENOTCONN;
    }
    size_t size = strlen(served.address) + 1;
    if (buffer == NULL || size > capacity) {
        return -ENOSPC;
    }
    memcpy(buffer, served.address, size);
    return 0;
}
