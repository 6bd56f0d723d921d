/* SPDX-License-Identifier: MIT
 *
 * own_files.c: the functions of sys/own_files.h, sys/apart.h and sys/program.h. An absolute path is one of the target, which may
 * have another root or other mounts (a container).
 *
 * Tested by: e2e.cpprof_dump
 */
#include "sys/own_files.h"

#include "remote/beneath.h"
#include "remote/target.h"

#include "sys/apart.h"
#include "sys/program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int result(int fd)
{
    return fd >= 0 ? fd : -errno;
}

static bool is_of_target(const char *path)
{
    return path[0] == '/' && strncmp(path, "/proc/", 6) != 0;
}

/* /proc/PID/maps shows the files of a process with another root folder as cpprof sees them: below
 * that folder. Returns the path in there; NULL: it is not there. */
static const char *path_in_root(const char *path)
{
    static char root[PATH_MAX];
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", pp_the_target.root);
    ssize_t length = readlink(link, root, sizeof root - 1);
    bool is_in = length > 1 && strncmp(path, root, (size_t)length) == 0 && path[length] == '/';
    return is_in ? path + length : NULL;
}

/* The files of the process go first. What it does not have is looked for outside: a debug file, or
 * one of cpprof's own. Links of the process's making do not lead there. */
int pp_own_open(const char *path, int flags, unsigned mode)
{
    if (!is_of_target(path)) {
        return result(open(path, flags | O_CLOEXEC, mode));
    }
    const char *inside = path_in_root(path);
    int fd = pp_open_beneath(pp_the_target.root, inside != NULL ? inside : path, flags);
    return fd >= 0 || inside != NULL ? fd : result(open(path, flags | O_CLOEXEC, mode));
}

int pp_own_status(const char *path, struct stat *status)
{
    int fd = pp_own_open(path, O_PATH, 0);
    if (fd < 0) {
        return fd;
    }
    int error = fstat(fd, status) == 0 ? 0 : -errno;
    close(fd);
    return error;
}

int pp_own_open_at(int folder, const char *path, int flags)
{
    return result(openat(folder, path, flags | O_CLOEXEC));
}

int pp_own_close(int fd)
{
    return close(fd) == 0 ? 0 : -errno;
}

bool pp_own_has(int fd)
{
    (void)fd;
    return false;
}

const char *pp_program_file(void)
{
    static char path[sizeof "/proc//exe" + 12];
    snprintf(path, sizeof path, "/proc/%d/exe", pp_the_target.thread);
    return path;
}

/* The descriptors are those of cpprof, which has no other thread. */
void pp_apart(void (*function)(void *argument), void *argument)
{
    function(argument);
}
