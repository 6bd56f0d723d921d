/* SPDX-License-Identifier: MIT
 *
 * writer_fd.c: the ready-made destination that is a file descriptor (contract in pprof.h).
 *
 * It needs no memory: the descriptor is the writer's ctx. Profiles that a fatal signal cuts short
 * are written through it.
 *
 * Zone: SIGNAL (write and poll only; errno is preserved).
 * Locks: none.
 * Owns: nothing.
 */
#include "pprof.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

/* A non-blocking pipe or socket that is full is waited for: a writer consumes everything. */
static int wait_writable(int fd)
{
    struct pollfd ready = {.fd = fd, .events = POLLOUT, .revents = 0};
    if (poll(&ready, 1, -1) < 0 && errno != EINTR)
        return -errno;
    return 0;
}

static int write_all(int fd, const char *from, size_t len)
{
    while (len > 0) {
        ssize_t written = write(fd, from, len);
        if (written > 0) {
            from += written;
            len -= (size_t)written;
        } else if (written == 0) {
            return -EIO;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            int error = wait_writable(fd);
            if (error != 0)
                return error;
        } else if (errno != EINTR) {
            return -errno;
        }
    }
    return 0;
}

static int write_fd(void *ctx, const void *data, size_t len)
{
    int saved_errno = errno;
    int error = write_all((int)(intptr_t)ctx, data, len);
    errno = saved_errno;
    return error;
}

pprof_writer pprof_writer_fd(int fd)
{
    return (pprof_writer){write_fd, (void *)(intptr_t)fd};
}
