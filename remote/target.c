/* SPDX-License-Identifier: MIT
 *
 * target.c: opens a process, and explains why it cannot be opened.
 *
 * Tested by: e2e.cpprof_dump
 */
#include "remote/target.h"

#include "remote/beneath.h"
#include "remote/process.h"

#include "modules/loader.h"
#include "sys/apart.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int pp_remote_fail(pp_remote_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return -1;
}

/* ---- what forbids it ---- */

long pp_remote_read_proc(int pid, const char *name, void *to, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    ssize_t got = read(fd, to, size);
    int error = errno;
    close(fd);
    return got >= 0 ? got : -error;
}

bool pp_remote_status_text(int pid, const char *key, char *to, size_t size)
{
    char path[64];
    char line[256];
    size_t length = strlen(key);
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/status", pp_process_thread(pid));
    FILE *file = fopen(path, "re");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        found = strncmp(line, key, length) == 0 && line[length] == ':';
    }
    if (found) {
        line[strcspn(line, "\n")] = '\0';
        snprintf(to, size, "%s", line + length + 1 + strspn(line + length + 1, "\t "));
    }
    if (file != NULL) {
        fclose(file);
    }
    return found;
}

long pp_remote_status_number(int pid, const char *key)
{
    char text[64];
    return pp_remote_status_text(pid, key, text, sizeof text) ? strtol(text, NULL, 10) : 0;
}

static int yama_scope(void)
{
    char text[8] = "";
    int fd = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    return got > 0 ? text[0] - '0' : 0;
}

static bool is_other_users(int pid)
{
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d", pid);
    return stat(path, &status) == 0 && status.st_uid != geteuid();
}

static int explain_refusal(int pid, pp_remote_error *error)
{
    if (is_other_users(pid)) {
        return pp_remote_fail(error,
                              "process %d is another user's: run cpprof as that user or as "
                              "root (sudo)",
                              pid);
    }
    if (geteuid() != 0 && yama_scope() > 0) {
        return pp_remote_fail(
            error,
            "process %d may not be looked at: kernel.yama.ptrace_scope is %d, which leaves that "
            "to root (sudo, or sysctl kernel.yama.ptrace_scope=0)",
            pid, yama_scope());
    }
    return pp_remote_fail(error,
                          "process %d may not be looked at: it has changed its user, holds more "
                          "capabilities than cpprof, or a sandbox forbids it (a container without "
                          "CAP_SYS_PTRACE)%s",
                          pid, geteuid() != 0 ? "; try as root" : "");
}

int pp_remote_refuse(int pid, long status, pp_remote_error *error)
{
    switch (status) {
    case -EACCES:
    case -EPERM:
        return explain_refusal(pid, error);
    case -ENOENT:
    case -ESRCH:
        return pp_remote_fail(error, "there is no process %d", pid);
    default:
        return pp_remote_fail(error, "process %d cannot be looked at: %s", pid,
                              strerror((int)-status));
    }
}

/* ---- opening ---- */

static int read_auxv(pp_target *target)
{
    ElfW(auxv_t) values[64] = {0};
    long got = pp_remote_read_proc(target->thread, "auxv", values, sizeof values);
    for (size_t i = 0; got > 0 && i < (size_t)got / sizeof *values; i++) {
        if (values[i].a_type == AT_ENTRY) {
            target->walked.entry = (uintptr_t)values[i].a_un.a_val;
        } else if (values[i].a_type == AT_BASE) {
            target->walked.interpreter = (uintptr_t)values[i].a_un.a_val;
        }
    }
    return got < 0 ? (int)got : 0;
}

static int open_of(int tid, const char *name, int flags)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", tid, name);
    int fd = open(path, flags | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    return fd;
}

/* Whether the target has a path of its own, by its root folder and its mounts (a container). */
static bool is_of_target(const char *path)
{
    return path[0] == '/' && strncmp(path, "/proc/", 6) != 0;
}

/* /proc/PID/maps shows the files of a process with another root folder as cpprof sees them: below
 * that folder. Returns the path in there; NULL: it is not there. */
static const char *path_in_root(const pp_target *target, const char *path)
{
    char root[PATH_MAX];
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", target->root);
    ssize_t length = readlink(link, root, sizeof root - 1);
    bool is_in = length > 1 && strncmp(path, root, (size_t)length) == 0 && path[length] == '/';
    return is_in ? path + length : NULL;
}

/* The files of the process go first. What it does not have is looked for outside: a debug file, or
 * one of cpprof's own. Links of the process's making do not lead there. */
static int open_file(const pp_files *files, const char *path, int flags)
{
    const pp_target *target = (const pp_target *)((const char *)files - offsetof(pp_target, files));
    const char *inside = is_of_target(path) ? path_in_root(target, path) : NULL;
    int fd = is_of_target(path)
                 ? pp_open_beneath(target->root, inside != NULL ? inside : path, flags)
                 : -ENOENT;
    return fd >= 0 || inside != NULL ? fd : pp_own_open(path, flags, 0);
}

/* The target's objects are read once: a look takes milliseconds. */
static const uint64_t epoch = 1;

int pp_target_open(pp_target *target, int pid, pp_remote_error *error)
{
    char text[256];
    *target = (pp_target){.walked.memory = pp_target_reader,
                          .files = {open_file, target->program},
                          .pid = pid,
                          .thread = pp_process_thread(pid),
                          .memory = -1,
                          .root = -1};
    snprintf(target->program, sizeof target->program, "/proc/%d/exe", target->thread);
    pp_target_forget_pages();
    pp_apart_suspend(); /* no thread of a program takes cpprof's descriptors */
    pp_loader_calibrate(&epoch, sizeof epoch, epoch, 0);
    target->tasks = open_of(pid, "task", O_RDONLY | O_DIRECTORY);
    if (target->tasks < 0) {
        return pp_remote_refuse(pid, target->tasks, error);
    }
    long got = pp_remote_read_proc(target->thread, "syscall", text, sizeof text);
    int status = got < 0 ? (int)got : read_auxv(target);
    if (status != 0) {
        pp_target_close(target);
        return pp_remote_refuse(pid, status, error);
    }
    target->memory = open_of(target->thread, "mem", O_RDONLY);
    target->root = open_of(target->thread, "root", O_PATH | O_DIRECTORY);
    return 0;
}

static void close_one(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
    }
    *fd = -1;
}

void pp_target_close(pp_target *target)
{
    close_one(&target->tasks);
    close_one(&target->memory);
    close_one(&target->root);
}
