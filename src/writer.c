/* SPDX-License-Identifier: MIT
 *
 * writer.c: the two ready-made destinations of a profile, a descriptor and a stdio stream.
 *
 * Neither needs memory of its own: the descriptor or the stream is the writer's ctx.
 *
 * Zone: the descriptor writer SIGNAL (write, poll), the stdio writer NORMAL.
 * Locks: none; stdio takes the stream's own.
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

static int write_stdio(void *ctx, const void *data, size_t len)
{
    FILE *file = ctx;
    if (file == NULL)
        return -EINVAL;
    int saved_errno = errno;
    int error = 0;
    errno = 0;
    if (fwrite(data, 1, len, file) != len || fflush(file) != 0)
        error = errno != 0 ? -errno : -EIO; /* a stream without a descriptor may set none */
    errno = saved_errno;
    return error;
}

pprof_writer pprof_writer_stdio(FILE *file)
{
    return (pprof_writer){write_stdio, file};
}
