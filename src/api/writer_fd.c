/* SPDX-License-Identifier: MIT
 *
 * writer_fd.c: the writer on a file descriptor (contract in pprof.h). It needs no memory: the
 * descriptor is the writer's ctx.
 *
 * Zone: SIGNAL; errno is preserved.
 * Tested by: unit.writer
 */
#include "sys/write_all.h"

#include "pprof.h"

#include <errno.h>
#include <stdint.h>

static int write_fd(void *ctx, const void *data, size_t len)
{
    int saved_errno = errno;
    int error = pp_write_all((int)(intptr_t)ctx, data, len, PP_WRITE_NO_DEADLINE);
    errno = saved_errno;
    return error;
}

pprof_writer pprof_writer_fd(int fd)
{
    return (pprof_writer){write_fd, (void *)(intptr_t)fd};
}
