/* SPDX-License-Identifier: MIT
 *
 * descriptor.c: see descriptor.h.
 *
 * Tested by: e2e.http_guest
 */
#include "descriptor.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LEAST = 200 };

void descriptor_keep(descriptor *d, int fd)
{
    struct stat status = {.st_mode = 0};
    int high = fcntl(fd, F_DUPFD_CLOEXEC, LEAST);
    if (high >= 0) {
        close(fd);
        fd = high;
    }
    fstat(fd, &status);
    *d = (descriptor){fd, status.st_dev, status.st_ino};
}

bool descriptor_is_there(const descriptor *d)
{
    struct stat status;
    return d->fd >= 0 && fstat(d->fd, &status) == 0 && status.st_dev == d->device &&
           status.st_ino == d->inode;
}

void descriptor_close(descriptor *d)
{
    if (descriptor_is_there(d)) {
        close(d->fd);
    }
    d->fd = -1;
}
