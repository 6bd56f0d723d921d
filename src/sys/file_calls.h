/* SPDX-License-Identifier: MIT
 *
 * file_calls.h: system calls on files, without libc's wrappers.
 *
 * Sanitizers replace libc's wrappers and check what the library reads and writes; libfaketime
 * replaces them and reads the time in each. The wrappers are cancellation points, too. Each
 * function returns what the kernel returns: a value, or -errno. own_files.h opens and closes.
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
    return (int)pp_call_poll(wanted, timeout_ms);
}

/* Makes the system call that libc's fstat makes. */
int pp_file_status(int fd, struct stat *status);

static inline int pp_path_status(const char *path, struct stat *status)
{
    *status = (struct stat){.st_mode = 0};
    return (int)pp_system_call(SYS_newfstatat, AT_FDCWD, path, status, 0);
}

/* Reads the status of a link, not of its target. */
static inline int pp_link_status(const char *path, struct stat *status)
{
    *status = (struct stat){.st_mode = 0};
    return (int)pp_system_call(SYS_newfstatat, AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}

/* Returns the length of the link's target, which has no terminator. */
static inline long pp_link_read(const char *path, char *to, size_t size)
{
    return pp_call_readlink(path, to, size);
}

static inline int pp_path_rename(const char *from, const char *to)
{
    return (int)pp_call_rename(from, to);
}

static inline int pp_path_remove(const char *path)
{
    return (int)pp_call_unlink(path);
}

/* Reads the path of the working folder. 0 or -errno; -ENOENT if no path leads there from
 * the root. */
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
