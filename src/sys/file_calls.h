/* SPDX-License-Identifier: MIT
 *
 * file_calls.h: system calls on files, without libc's wrappers.
 *
 * Those are replaced by sanitizers, which look at what we read and write, and by libfaketime, which
 * asks for the time in each of them. They are points of cancellation too. Each function returns
 * what the kernel does: a value, or -errno. Opening and closing: own_files.h.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_SYS_FILE_CALLS_H
#define PP_SYS_FILE_CALLS_H

#include "arch/system_call.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

static inline long pp_file_read(int fd, void *to, size_t size)
{
    return pp_system_call(SYS_read, fd, to, size);
}

static inline long pp_file_read_at(int fd, void *to, size_t size, uint64_t offset)
{
    return pp_system_call(SYS_pread64, fd, to, size, offset);
}

static inline long pp_file_write(int fd, const void *from, size_t size)
{
    return pp_system_call(SYS_write, fd, from, size);
}

static inline int pp_file_poll(struct pollfd *wanted, int timeout_ms)
{
    return (int)pp_system_call(SYS_poll, wanted, 1, timeout_ms);
}

/* By the call that libc's fstat makes. */
int pp_file_status(int fd, struct stat *status);

static inline int pp_path_status(const char *path, struct stat *status)
{
    *status = (struct stat){.st_mode = 0};
    return (int)pp_system_call(SYS_newfstatat, AT_FDCWD, path, status, 0);
}

/* Of a link itself. */
static inline int pp_link_status(const char *path, struct stat *status)
{
    *status = (struct stat){.st_mode = 0};
    return (int)pp_system_call(SYS_newfstatat, AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}

/* The length of what the link leads to, which has no terminator. */
static inline long pp_link_read(const char *path, char *to, size_t size)
{
    return pp_system_call(SYS_readlink, path, to, size);
}

static inline int pp_path_rename(const char *from, const char *to)
{
    return (int)pp_system_call(SYS_rename, from, to);
}

static inline int pp_path_remove(const char *path)
{
    return (int)pp_system_call(SYS_unlink, path);
}

/* The working folder: 0 or -errno. One that cannot be reached from the root has no
 * path: -ENOENT. */
static inline int pp_working_folder(char *to, size_t size)
{
    to[0] = '\0';
    long length = pp_system_call(SYS_getcwd, to, size);
    if (length < 0) {
        return (int)length;
    }
    return to[0] == '/' ? 0 : -ENOENT;
}

#endif
