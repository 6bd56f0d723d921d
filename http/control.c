/* SPDX-License-Identifier: MIT
 *
 * control.c: the control socket of the process (docs/CONTROL.md), in the user's own folder or where
 * the option says.
 *
 * Owns: the service and the path of its socket.
 * Tested by: e2e.control
 */
#include "address.h"
#include "events.h"
#include "folder.h"
#include "service.h"

#include <pprof_http_door.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CONTROL_API __attribute__((visibility("default")))

static struct {
    service service;
    /* Of the caller that has claimed the service: too large for the stack of a thread that forks. */
    socket_folder folder;
    folder_error why;
} control; /* begins as 0: see service.h */

static void complain(void)
{
    char message[sizeof control.why.text + 64];
    snprintf(message, sizeof message, "control: no socket: %s", control.why.text);
    pprof_http_door_4.log(message);
}

/* A path that is too long for a socket begins with the folder's descriptor instead. */
static int read_address(server_address *a, const socket_folder *folder, const char *name)
{
    char text[sizeof folder->path + NAME_MAX + 8];
    snprintf(text, sizeof text, "unix:%s/%.255s", folder->path, name);
    if (address_read(a, text) == 0) {
        return 0;
    }
    snprintf(text, sizeof text, "unix:/proc/self/fd/%d/%.255s", folder->fd, name);
    return address_read(a, text) == 0 ? 0 : -ENAMETOOLONG;
}

static int listen_in(const socket_folder *folder, const char *name)
{
    server_address a;
    int fd = read_address(&a, folder, name);
    fd = fd == 0 ? address_listen(&a) : fd;
    if (fd < 0) {
        snprintf(control.why.text, sizeof control.why.text, "%.300s/%.100s: %s", folder->path, name,
                 fd == -EADDRINUSE ? "another process listens there" : strerror(-fd));
    }
    return fd;
}

static int open_in(const socket_folder *folder, const char *name)
{
    int fd = listen_in(folder, name);
    if (fd < 0) {
        return fd;
    }
    service *s = &control.service;
    service_keep_file(s, folder->fd, folder->path, name);
    if (!service_has_file(
            s)) { /* another folder has come to the place of the one that was checked */
        snprintf(control.why.text, sizeof control.why.text, "%.400s: the folder was replaced",
                 folder->path);
        close(fd);
        return -EPERM;
    }
    s->server.rules.is_control = true;
    s->server.rules.user = geteuid();
    s->ends_at_exec = true;
    int error = service_open(s, fd, "libpprof-ctl");
    if (error != 0) {
        service_remove_file(s);
        snprintf(control.why.text, sizeof control.why.text, "the server cannot begin: %s",
                 strerror(-error));
    }
    return error;
}

static int start(const char *path)
{
    socket_folder *folder = &control.folder;
    char own_name[32];
    const char *name = own_name;
    snprintf(own_name, sizeof own_name, "%d.sock", (int)getpid());
    int error = path != NULL ? folder_open_of(folder, path, &name, &control.why)
                             : folder_open_own(folder, &control.why);
    if (error == 0) {
        error = open_in(folder, name);
        close(folder->fd);
    }
    return error;
}

/* A server whose file is gone can be reached by nobody: an exec has failed, or a clean-up of old
 * files. */
static void end_if_lost(void)
{
    if (!service_runs(&control.service) || service_has_lost_file(&control.service)) {
        service_stop(&control.service);
    }
}

CONTROL_API int pprof_control_serve(const char *path)
{
    events_watch(&control.service);
    end_if_lost();
    if (!service_claim(&control.service)) {
        return 0;
    }
    int error = start(path);
    if (error != 0) {
        complain();
    }
    return service_settle(&control.service, error);
}

CONTROL_API void pprof_control_end(void)
{
    service_stop(&control.service);
}

CONTROL_API int pprof_control_path(char *buffer, size_t capacity)
{
    if (!service_runs(&control.service)) {
        return -ENOTCONN;
    }
    size_t size = strlen(control.service.file) + 1;
    if (buffer == NULL || size > capacity) {
        return -ENOSPC;
    }
    memcpy(buffer, control.service.file, size);
    return 0;
}
