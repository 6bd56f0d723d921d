/* SPDX-License-Identifier: MIT
 *
 * tasks.c: /proc/self/task without opendir(), which allocates.
 *
 * Zone: SIGNAL.
 * Locks: none.
 * Owns: nothing.
 */
#include "sys/tasks.h"

#include "arch/system_call.h"
#include "sys/clock.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

int pp_task_self(void)
{
    return (int)pp_system_call(SYS_gettid);
}

static const char task_folder[] = "/proc/self/task";

unsigned pp_tasks_count(void)
{
    struct stat status;
    if (stat(task_folder, &status) != 0 || status.st_nlink < 2) {
        return 0;
    }
    return (unsigned)status.st_nlink - 2; /* "." and ".." */
}

/* The number that a name consists of; 0 for "." and "..". */
static int parse_tid(const char *name)
{
    int tid = 0;
    for (; *name >= '0' && *name <= '9'; name++) {
        tid = tid * 10 + (*name - '0');
    }
    return *name == '\0' ? tid : 0;
}

int pp_tasks_each(void *buffer, size_t size, pp_task_visit *visit, void *context)
{
    /* Not open() and close(): these are cancellation points, and we may be in a handler. */
    long fd = pp_system_call(SYS_openat, AT_FDCWD, task_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return (int)fd;
    }
    long got = 0;
    while ((got = pp_system_call(SYS_getdents64, fd, buffer, size)) > 0) {
        for (long at = 0; at < got;) {
            const struct dirent64 *entry = (const void *)((const char *)buffer + at);
            int tid = parse_tid(entry->d_name);
            if (tid > 0) {
                visit(tid, context);
            }
            at += entry->d_reclen;
        }
    }
    pp_system_call(SYS_close, fd);
    return (int)got;
}

int64_t pp_task_cpu_ns(int tid)
{
    uint64_t ns = 0;
    return pp_clock_read(pp_task_cpu_clock(tid), &ns) ? (int64_t)ns : -1;
}
