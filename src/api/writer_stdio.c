/* SPDX-License-Identifier: MIT
 *
 * writer_stdio.c: the writer on a stdio stream (contract in pprof.h).
 *
 * Zone: NORMAL.
 * Locks: none; stdio takes the stream's own.
 * Tested by: unit.writer
 */
#include "pprof.h"

#include <errno.h>

static int write_stdio(void *ctx, const void *data, size_t len)
{
    FILE *file = ctx;
    if (file == NULL) {
        return -EINVAL;
    }
    int saved_errno = errno;
    int error = 0;
    errno = 0;
    if (fwrite(data, 1, len, file) != len || fflush(file) != 0) {
        error = errno != 0 ? -errno : -EIO; /* a stream without a descriptor may set no errno */
    }
    errno = saved_errno;
    return error;
}

pprof_writer pprof_writer_stdio(FILE *file)
{
    return (pprof_writer){write_stdio, file};
}
