/* SPDX-License-Identifier: MIT
 *
 * control.c: the control socket of the process (docs/CONTROL.md), in the user's own folder or where
 * the option says.
 *
 * Owns: the service and the path of its socket.
 * Tested by: e2e.control, e2e.control_security
 */
#include "address.h"
#include "service.h"

#include <pprof_http_door.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONTROL_API __attribute__((visibility("default")))

typedef struct socket_folder {
    int fd;
    char path[PATH_MAX];
} socket_folder;

static struct {
    service service;
    /* Of the caller that has claimed the service: too large for the stack of a thread that forks. */
    socket_folder folder;
    char why[512]; /* there is no socket */
} control;         /* begins as 0: see service.h */

/* ---- the folder ---- */

/* Returns `number`, negative. */
static int refuse(int number, const char *path, const char *why)
{
    snprintf(control.why, sizeof control.why, "%.300s: %.200s", path, why);
    return -number;
}

/* Whether others can neither enter nor change what is open as `fd`. */
static int check(int fd, const char *path)
{
    struct stat status;
    if (fstat(fd, &status) != 0) {
        return refuse(errno, path, strerror(errno));
    }
    if (status.st_uid != geteuid()) {
        return refuse(EPERM, path,
                      "another user has made this folder: have it removed, or write control=PATH");
    }
    if ((status.st_mode & 077) != 0) {
        return refuse(EPERM, path, "this folder is open to others: chmod 700 it");
    }
    return 0;
}

/* A symbolic link in the folder's place is refused: another user may have made it. */
static int open_checked(socket_folder *folder)
{
    const char *path = folder->path;
    if (mkdir(path, 0700) != 0 && errno != EEXIST) {
        return refuse(errno, path, strerror(errno));
    }
    folder->fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder->fd < 0) {
        int number = errno;
        return refuse(number, path,
                      number == ENOTDIR || number == ELOOP
                          ? "expected a folder, found something else: have it removed, or write "
                            "control=PATH"
                          : strerror(number));
    }
    int status = check(folder->fd, path);
    if (status != 0) {
        close(folder->fd);
    }
    return status;
}

/*
 * Opens $XDG_RUNTIME_DIR/pprof, or else /tmp/pprof-UID, and makes it if it is not there. Neither is
 * used unless it is a folder, no symbolic link, of this user, and closed to all others. 0, or
 * -errno, and `why` about the last one.
 */
static int open_own_folder(socket_folder *folder)
{
    const char *run = secure_getenv("XDG_RUNTIME_DIR");
    size_t room = sizeof folder->path;
    if (run != NULL && *run == '/' &&
        (size_t)snprintf(folder->path, room, "%s/pprof", run) < room && open_checked(folder) == 0) {
        return 0;
    }
    snprintf(folder->path, room, "/tmp/pprof-%u", (unsigned)geteuid());
    return open_checked(folder);
}

/* Opens the folder of a path that the user has chosen. The rest of the path goes to *name. */
static int open_folder_of(socket_folder *folder, const char *path, const char **name)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash != NULL ? (size_t)(slash - path) : 0;
    if (slash == NULL || slash[1] == '\0' || length >= sizeof folder->path) {
        return refuse(EINVAL, path, "expected the path of a socket");
    }
    memcpy(folder->path, path, length + 1);
    folder->path[length + (length == 0)] = '\0';
    *name = slash + 1;
    folder->fd = open(folder->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return folder->fd >= 0 ? 0 : refuse(errno, folder->path, strerror(errno));
}

/* ---- start ---- */

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
        snprintf(control.why, sizeof control.why, "%.300s/%.100s: %s", folder->path, name,
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
        snprintf(control.why, sizeof control.why, "%.400s: the folder was replaced", folder->path);
        close(fd);
        return -EPERM;
    }
    s->server.rules.is_control = true;
    s->server.rules.user = geteuid();
    s->ends_at_exec = true;
    int error = service_open(s, fd, "libpprof-ctl");
    if (error != 0) {
        snprintf(control.why, sizeof control.why, "the server cannot begin: %s", strerror(-error));
    }
    return error;
}

static int start(const char *path)
{
    socket_folder *folder = &control.folder;
    char own_name[32];
    const char *name = own_name;
    snprintf(own_name, sizeof own_name, "%d.sock", (int)getpid());
    int error = path != NULL ? open_folder_of(folder, path, &name) : open_own_folder(folder);
    if (error == 0) {
        error = open_in(folder, name);
        close(folder->fd);
    }
    return error;
}

static void complain(void)
{
    char message[sizeof control.why + 64];
    snprintf(message, sizeof message, "control: no socket: %s", control.why);
    pprof_http_door_5.log(message);
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
    service_watch(&control.service);
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
    if (size == 1) {
        return -ENOTCONN; /* it ends */
    }
    if (buffer == NULL || size > capacity) {
        return -ENOSPC;
    }
    memcpy(buffer, control.service.file, size);
    return 0;
}
