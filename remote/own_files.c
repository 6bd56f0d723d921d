/* SPDX-License-Identifier: MIT
 *
 * own_files.c: the functions of sys/own_files.h and sys/program.h. An absolute path is one of the target, which may
 * have another root or other mounts (a container).
 *
 * Tested by: e2e.cpprof_dump
 */
#include "sys/own_files.h"

#include "remote/target.h"

#include "sys/program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int result(int fd)
{
    return fd >= 0 ? fd : -errno;
}

static bool is_of_target(const char *path)
{
    return path[0] == '/' && strncmp(path, "/proc/", 6) != 0;
}

int pp_own_open(const char *path, int flags, unsigned mode)
{
    char inside[PATH_MAX];
    int length = snprintf(inside, sizeof inside, "/proc/%d/root%s", pp_the_target.thread, path);
    if (is_of_target(path) && length < (int)sizeof inside) {
        int fd = open(inside, flags | O_CLOEXEC, mode);
        if (fd >= 0) {
            return fd;
        }
    }
    return result(open(path, flags | O_CLOEXEC, mode)); /* debug files: outside perhaps */
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
