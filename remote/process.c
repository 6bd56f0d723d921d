/* SPDX-License-Identifier: MIT
 *
 * process.c: see process.h.
 *
 * Tested by: e2e.cpprof_gone_thread, e2e.cpprof_no_copies
 */
#include "remote/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

/* ---- a thread that lives ---- */

/* A thread that has ended, or is about to, has no memory: the first number of `statm` is 0. Everybody
 * may read that file. */
static bool has_memory(int tid)
{
    char path[64];
    char first = '0';
    snprintf(path, sizeof path, "/proc/%d/statm", tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    bool found = read(fd, &first, 1) == 1 && first != '0';
    close(fd);
    return found;
}

static int find_thread(int pid)
{
    char path[64];
    int found = 0;
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *folder = opendir(path);
    const struct dirent *entry;
    while (folder != NULL && found == 0 && (entry = readdir(folder)) != NULL) {
        int tid = (int)strtol(entry->d_name, NULL, 10);
        found = tid > 0 && has_memory(tid) ? tid : 0;
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return found;
}

int pp_process_thread(int pid)
{
    int found = has_memory(pid) ? pid : find_thread(pid);
    return found != 0 ? found : pid;
}

/* ---- memory ---- */

static bool read_memory_file(int tid, uintptr_t from, void *to, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    ssize_t got = pread(fd, to, size, (off_t)from);
    close(fd);
    return got == (ssize_t)size;
}

bool pp_process_read(int pid, uintptr_t from, void *to, size_t size)
{
    int tid = pp_process_thread(pid);
    struct iovec local = {to, size};
    struct iovec remote = {(void *)from, size};
    ssize_t got = process_vm_readv(tid, &local, 1, &remote, 1, 0);
    return got == (ssize_t)size ||
           (got < 0 && errno != EFAULT && read_memory_file(tid, from, to, size));
}

/* ---- files ---- */

int pp_process_root(int pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/root", pp_process_thread(pid));
    int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    return fd;
}
