/* SPDX-License-Identifier: MIT
 *
 * beneath.c: see beneath.h.
 *
 * Tested by: e2e.cpprof_foreign_root
 */
#include "remote/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_openat2
#define SYS_openat2 437 /* Linux 5.6 */
#endif

/* <linux/openat2.h>: struct open_how and its RESOLVE_ flags, which older systems do not have. */
typedef struct how {
    uint64_t flags, mode, resolve;
} how;

enum { NO_MAGIC_LINKS = 0x02, IN_ROOT = 0x10 };

enum { LINKS = 40 /* as many as the kernel follows */, DEPTH = 256 /* folders in one another */ };

/* A walk below a root. */
typedef struct descent {
    int folder[DEPTH]; /* the root first; the way back for ".." */
    unsigned depth;
    unsigned links;
    char rest[PATH_MAX]; /* what is left of the path */
} descent;

static void go_up(descent *d, unsigned depth)
{
    while (d->depth > depth) {
        close(d->folder[--d->depth]);
    }
}

/* Takes the first name off the rest. False: there is none. A name that is too long is cut, and there
 * is no such file. */
static bool take_name(descent *d, char name[NAME_MAX + 2], bool *is_last)
{
    const char *at = d->rest + strspn(d->rest, "/");
    size_t length = strcspn(at, "/");
    if (length == 0) {
        return false;
    }
    length = length <= NAME_MAX + 1 ? length : NAME_MAX + 1;
    memcpy(name, at, length);
    name[length] = '\0';
    at += strcspn(at, "/");
    *is_last = at[strspn(at, "/")] == '\0';
    memmove(d->rest, at, strlen(at) + 1);
    return true;
}

/* Goes on with the text of a link. A link of the kernel's has a text, too, which names a place as the
 * kernel sees it: the walk takes it as any other, below the root. */
static int follow(descent *d, int link)
{
    char text[PATH_MAX];
    ssize_t length = readlinkat(link, "", text, sizeof text);
    size_t rest = strlen(d->rest) + 1;
    if (length <= 0 || ++d->links > LINKS) {
        return length < 0 ? -errno : -ELOOP;
    }
    if ((size_t)length + rest >= sizeof d->rest) {
        return -ENAMETOOLONG;
    }
    memmove(d->rest + length, d->rest, rest);
    memcpy(d->rest, text, (size_t)length);
    if (text[0] == '/') {
        go_up(d, 1);
    }
    return 0;
}

/* Enters a folder, or follows a link. -ENOTDIR: it is something else. */
static int enter(descent *d, const char *name)
{
    struct stat status;
    int next = openat(d->folder[d->depth - 1], name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (next < 0 || fstat(next, &status) != 0) {
        return -errno;
    }
    int error = S_ISLNK(status.st_mode)    ? follow(d, next)
                : !S_ISDIR(status.st_mode) ? -ENOTDIR
                : d->depth == DEPTH        ? -ENAMETOOLONG
                                           : 0;
    if (error == 0 && S_ISDIR(status.st_mode)) {
        d->folder[d->depth++] = next;
    } else {
        close(next);
    }
    return error;
}

/* Opens the last name, which is no link; 1: it is one, and is followed. */
static int open_last(descent *d, const char *name, int flags)
{
    int folder = d->folder[d->depth - 1];
    int fd = openat(folder, name, flags | O_NOFOLLOW | O_CLOEXEC);
    int error = fd < 0 ? errno : 0;
    struct stat status;
    bool is_link = fd >= 0 ? fstat(fd, &status) == 0 && S_ISLNK(status.st_mode) /* O_PATH */
                           : error == ELOOP || error == ENOTDIR;
    if (!is_link && fd >= 0) {
        return fd;
    }
    if (!is_link) {
        return -error;
    }
    if (fd >= 0) {
        close(fd);
    }
    error = enter(d, name);
    return error == 0 ? 1 : error;
}

static int descend(descent *d, int flags)
{
    char name[NAME_MAX + 2];
    bool is_last = false;
    int result = 1;
    while (result == 1 && take_name(d, name, &is_last)) {
        if (strcmp(name, "..") == 0) {
            go_up(d, d->depth > 1 ? d->depth - 1 : 1);
        } else if (strcmp(name, ".") != 0 && is_last) {
            result = open_last(d, name, flags);
        } else if (strcmp(name, ".") != 0) {
            int error = enter(d, name);
            result = error == 0 ? 1 : error;
        }
    }
    if (result != 1) {
        return result;
    }
    int fd = openat(d->folder[d->depth - 1], ".", flags | O_CLOEXEC); /* it ends with a folder */
    return fd >= 0 ? fd : -errno;
}

static int open_by_steps(int root, const char *path, int flags)
{
    descent d = {.depth = 0};
    int first = fcntl(root, F_DUPFD_CLOEXEC, 0);
    if (first < 0 || strlen(path) >= sizeof d.rest) {
        int error = first < 0 ? errno : ENAMETOOLONG;
        if (first >= 0) {
            close(first);
        }
        return -error;
    }
    d.folder[d.depth++] = first;
    memcpy(d.rest, path, strlen(path) + 1);
    int result = descend(&d, flags);
    go_up(&d, 0);
    return result;
}

int pp_open_beneath(int root, const char *path, int flags)
{
    how wanted = {.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
                  .resolve = IN_ROOT | NO_MAGIC_LINKS};
    long fd = syscall(SYS_openat2, root, path, &wanted, sizeof wanted);
    if (fd >= 0 || (errno != ENOSYS && errno != EPERM && errno != EAGAIN)) {
        return fd >= 0 ? (int)fd : -errno;
    }
    return open_by_steps(root, path, flags);
}
