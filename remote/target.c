/* SPDX-License-Identifier: MIT
 *
 * target.c: opens a process, and explains why it cannot be opened.
 *
 * Tested by: e2e.cpprof_dump
 */
#include "remote/target.h"

#include "remote/process.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

pp_target pp_the_target = {.tasks = -1, .memory = -1, .root = -1};

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
                              "root (sudo cpprof dump -p %d)",
                              pid, pid);
    }
    if (geteuid() != 0 && yama_scope() > 0) {
        return pp_remote_fail(
            error,
            "process %d may not be looked at: kernel.yama.ptrace_scope is %d, which leaves that "
            "to root (sudo cpprof dump -p %d, or sysctl kernel.yama.ptrace_scope=0)",
            pid, yama_scope(), pid);
    }
    return pp_remote_fail(error,
                          "process %d may not be looked at: it has changed its user, holds more "
                          "capabilities than cpprof, or a sandbox forbids it (a container without "
                          "CAP_SYS_PTRACE)%s",
                          pid, geteuid() != 0 ? "; try as root" : "");
}

static int explain(int pid, long status, pp_remote_error *error)
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

static int read_auxv(void)
{
    ElfW(auxv_t) values[64] = {0};
    long got = pp_remote_read_proc(pp_the_target.thread, "auxv", values, sizeof values);
    for (size_t i = 0; got > 0 && i < (size_t)got / sizeof *values; i++) {
        if (values[i].a_type == AT_ENTRY) {
            pp_the_target.walked.entry = (uintptr_t)values[i].a_un.a_val;
        } else if (values[i].a_type == AT_BASE) {
            pp_the_target.walked.interpreter = (uintptr_t)values[i].a_un.a_val;
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

int pp_target_open(int pid, pp_remote_error *error)
{
    char text[256];
    pp_the_target = (pp_target){.walked.memory = pp_target_reader,
                                .pid = pid,
                                .thread = pp_process_thread(pid),
                                .memory = -1,
                                .root = -1};
    pp_target_forget_pages();
    pp_the_target.tasks = open_of(pid, "task", O_RDONLY | O_DIRECTORY);
    if (pp_the_target.tasks < 0) {
        return explain(pid, pp_the_target.tasks, error);
    }
    long got = pp_remote_read_proc(pp_the_target.thread, "syscall", text, sizeof text);
    int status = got < 0 ? (int)got : read_auxv();
    if (status != 0) {
        pp_target_close();
        return explain(pid, status, error);
    }
    pp_the_target.memory = open_of(pp_the_target.thread, "mem", O_RDONLY);
    pp_the_target.root = open_of(pp_the_target.thread, "root", O_PATH | O_DIRECTORY);
    return 0;
}

static void close_one(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
    }
    *fd = -1;
}

void pp_target_close(void)
{
    close_one(&pp_the_target.tasks);
    close_one(&pp_the_target.memory);
    close_one(&pp_the_target.root);
}
