/* SPDX-License-Identifier: MIT
 *
 * folder.c: see folder.h.
 *
 * Tested by: e2e.control, e2e.control_security
 */
#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns `number`, negative. */
static int refuse(folder_error *error, int number, const char *path, const char *why)
{
    snprintf(error->text, sizeof error->text, "%.300s: %.200s", path, why);
    return -number;
}

/* Whether others can neither enter nor change what is open as `fd`. */
static int check(int fd, const char *path, folder_error *error)
{
    struct stat status;
    if (fstat(fd, &status) != 0) {
        return refuse(error, errno, path, strerror(errno));
    }
    if (status.st_uid != geteuid()) {
        return refuse(error, EPERM, path,
                      "another user has made this folder: have it removed, or write control=PATH");
    }
    if ((status.st_mode & 077) != 0) {
        return refuse(error, EPERM, path, "this folder is open to others: chmod 700 it");
    }
    return 0;
}

/* A symbolic link in the folder's place is refused: another user may have made it. */
static int open_checked(socket_folder *folder, folder_error *error)
{
    const char *path = folder->path;
    if (mkdir(path, 0700) != 0 && errno != EEXIST) {
        return refuse(error, errno, path, strerror(errno));
    }
    folder->fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder->fd < 0) {
        int number = errno;
        return refuse(error, number, path,
                      number == ENOTDIR || number == ELOOP
                          ? "expected a folder, found something else: have it removed, or write "
                            "control=PATH"
                          : strerror(number));
    }
    int status = check(folder->fd, path, error);
    if (status != 0) {
        close(folder->fd);
    }
    return status;
}

int folder_open_own(socket_folder *folder, folder_error *error)
{
    const char *run = secure_getenv("XDG_RUNTIME_DIR");
    size_t room = sizeof folder->path;
    if (run != NULL && *run == '/' &&
        (size_t)snprintf(folder->path, room, "%s/pprof", run) < room &&
        open_checked(folder, error) == 0) {
        return 0;
    }
    snprintf(folder->path, room, "/tmp/pprof-%u", (unsigned)geteuid());
    return open_checked(folder, error);
}

int folder_open_of(socket_folder *folder, const char *path, const char **name, folder_error *error)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash != NULL ? (size_t)(slash - path) : 0;
    if (slash == NULL || slash[1] == '\0' || length >= sizeof folder->path) {
        return refuse(error, EINVAL, path, "expected the path of a socket");
    }
    memcpy(folder->path, path, length + 1);
    folder->path[length + (length == 0)] = '\0';
    *name = slash + 1;
    folder->fd = open(folder->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return folder->fd >= 0 ? 0 : refuse(error, errno, folder->path, strerror(errno));
}
