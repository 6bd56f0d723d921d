/* SPDX-License-Identifier: MIT
 *
 * service.c: see service.h.
 *
 * Owns: the list of services.
 * Tested by: unit.service, e2e.http_server, e2e.http_guest, e2e.control
 */
#include "service.h"

#include "address.h"

#include <pprof_http.h>
#include <pprof_http_door.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SERVICES = 2, STACK_BYTES = 1 << 20 }; /* lines of source take 256 KiB (docs/LIMITS.md) */

/* The page that shows a profile, compressed by gzip (page_data.c). */
extern const unsigned char http_page_data[];
extern const size_t http_page_size;

static service *services[SERVICES]; /* NULL: none is watched there */

static bool change(service *s, int from, int to)
{
    return __atomic_compare_exchange_n(&s->state, &from, to, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

static service_state state_of(const service *s)
{
    return (service_state)__atomic_load_n(&s->state, __ATOMIC_ACQUIRE);
}

/* ---- start ---- */

bool service_claim(service *s)
{
    if (!change(s, SERVICE_IDLE, SERVICE_CHANGES)) {
        return false;
    }
    server_init(&s->server);
    s->file[0] = '\0';
    return true;
}

/* Removes the file for good, while the socket still listens: after that another process may have bound its own there,
 * even with the same inode. */
static void give_file_up(service *s)
{
    service_remove_file(s);
    s->file[0] = '\0';
}

static void end(service *s)
{
    give_file_up(s);
    server_end(&s->server);
}

static bool run(void *of_service)
{
    service *s = of_service;
    bool is_over = server_run(&s->server);
    if (is_over) {
        end(s);
    }
    return is_over;
}

static void wake(void *of_service)
{
    const service *s = of_service;
    server_wake(&s->server);
}

static void lose(void *of_service)
{
    end(of_service);
}

int service_open(service *s, int listener, const char *name)
{
    int error = server_open(&s->server, listener);
    const pprof_http_thread thread = {.name = name,
                                      .stack_bytes = STACK_BYTES,
                                      .run = run,
                                      .wake = wake,
                                      .lost = lose,
                                      .context = s};
    return error == 0 ? pprof_http_door_5.begin_thread(&thread) : error;
}

int service_settle(service *s, int error)
{
    if (error != 0) {
        give_file_up(s);
        server_close(&s->server);
    }
    __atomic_store_n(&s->state, error == 0 ? SERVICE_RUNS : SERVICE_IDLE, __ATOMIC_RELEASE);
    return error;
}

/* ---- end ---- */

void service_stop(service *s)
{
    if (!change(s, SERVICE_RUNS, SERVICE_CHANGES)) {
        return;
    }
    __atomic_store_n(&s->server.stops, true, __ATOMIC_RELEASE);
    pprof_http_door_5.end_thread(s);
    descriptor_close(&s->server.link); /* in the caller's table */
    service_remove_file(s);
    __atomic_store_n(&s->state, SERVICE_IDLE, __ATOMIC_RELEASE);
}

/* Closes what the child of fork has inherited. */
static void forget(service *s)
{
    if (s->state != SERVICE_IDLE) {
        server_forget(&s->server);
    }
    memset(&s->server.rules, 0, sizeof s->server.rules);
    s->file[0] = '\0'; /* the parent's */
    __atomic_store_n(&s->state, SERVICE_IDLE, __ATOMIC_RELEASE);
}

/* ---- questions ---- */

bool service_runs(const service *s)
{
    return state_of(s) == SERVICE_RUNS && !__atomic_load_n(&s->server.is_over, __ATOMIC_ACQUIRE);
}

bool service_has(const service *s, int fd)
{
    return state_of(s) != SERVICE_IDLE && server_has(&s->server, fd);
}

/* ---- the file of a unix socket ---- */

void service_keep_file(service *s, int folder, const char *path, const char *name)
{
    const char *between = *path != '\0' && strcmp(path, "/") != 0 ? "/" : "";
    int length = snprintf(s->file, sizeof s->file, "%s%s%s", path, between, name);
    if (length >= (int)sizeof s->file ||
        fstatat(folder, name, &s->file_status, AT_SYMLINK_NOFOLLOW) != 0) {
        s->file[0] = '\0';
    }
}

bool service_has_file(const service *s)
{
    return s->file[0] != '\0' && address_has_file(s->file, &s->file_status);
}

bool service_has_lost_file(const service *s)
{
    struct stat present;
    if (s->file[0] != '\0' && lstat(s->file, &present) != 0) {
        return errno == ENOENT || errno == ENOTDIR;
    }
    return !service_has_file(s);
}

void service_remove_file(const service *s)
{
    if (service_has_file(s)) {
        unlink(s->file);
    }
}

/* ---- events of the process ---- */

static void remove_file(service *s)
{
    service_remove_file(s);
}

static void remove_file_at_exec(service *s)
{
    if (s->ends_at_exec) {
        service_remove_file(s);
    }
}

static service *service_at(int i)
{
    return __atomic_load_n(&services[i], __ATOMIC_ACQUIRE);
}

static bool has_descriptor(int fd)
{
    bool has = false;
    for (int i = 0; i < SERVICES && !has; i++) {
        has = service_at(i) != NULL && service_has(service_at(i), fd);
    }
    return has;
}

static void each(void (*act)(service *s))
{
    for (int i = 0; i < SERVICES; i++) {
        if (service_at(i) != NULL) {
            act(service_at(i));
        }
    }
}

static void after_fork_in_child(void)
{
    each(forget);
}

static void before_confinement(void)
{
    each(service_stop);
}

static void before_exec(void)
{
    each(remove_file_at_exec);
}

static void at_end(void)
{
    each(remove_file);
}

static const pprof_http_events events = {.after_fork_in_child = after_fork_in_child,
                                         .before_confinement = before_confinement,
                                         .has_descriptor = has_descriptor,
                                         .http_address = pprof_http_address,
                                         .before_exec = before_exec,
                                         .at_end = at_end};

void service_watch(service *s)
{
    int i = 0;
    service *expected = NULL;
    while (i < SERVICES && service_at(i) != s &&
           !__atomic_compare_exchange_n(&services[i], &expected, s, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
        expected = NULL;
        i++;
    }
    pprof_http_door_5.listen(&events);
    pprof_http_door_5.set_page(http_page_data, http_page_size);
}
