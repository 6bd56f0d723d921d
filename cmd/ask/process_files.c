/* SPDX-License-Identifier: MIT
 *
 * process_files.c: see process_files.h.
 *
 * Tested by: unit.cmd_live_process, e2e.cpprof_dump, e2e.cpprof_record_tree
 */
#include "ask/process_files.h"

#include "base/message.h"
#include "base/pool.h"

#include "remote/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cp_process_parse(const char *text, int *pid, cp_error *error)
{
    char *end = NULL;
    errno = 0;
    long number = strtol(text, &end, 10);

    if (errno != 0 || end == text || *end != '\0' || number < 1 || number > INT_MAX) {
        return cp_fail(error, "-p %s: expected the number of a process", text);
    }
    *pid = (int)number;
    return 0;
}

FILE *cp_process_open(int pid, const char *name)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/%s", pp_process_thread(pid), name);
    return fopen(path, "re");
}

char *cp_process_command(int pid)
{
    char text[4095];
    FILE *file = cp_process_open(pid, "cmdline");
    size_t length = file ? fread(text, 1, sizeof text, file) : 0;

    if (file) {
        fclose(file);
    }
    while (length > 0 && text[length - 1] == '\0') {
        length--;
    }
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\0') {
            text[i] = ' ';
        }
    }
    return length > 0 ? cp_heap_copy(text, length) : NULL;
}

static bool read_line(int pid, const char *name, char *line, size_t room)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, line, room - 1) : 0;
    if (fd >= 0) {
        close(fd);
    }
    line[got > 0 ? got : 0] = '\0';
    return got > 0;
}

/* [proc_pid_stat(5)]: the name is between the first and the last parenthesis. */
bool cp_process_stat_read(int pid, const char *name, cp_process_stat *stat)
{
    char line[1024];

    *stat = (cp_process_stat){.name = ""};
    char *begin = read_line(pid, name, line, sizeof line) ? strchr(line, '(') : NULL;
    char *end = begin ? strrchr(begin, ')') : NULL;
    if (!end) {
        return false;
    }
    uint64_t *ticks = stat->ticks;
    *end = '\0';
    snprintf(stat->name, sizeof stat->name, "%s", begin + 1);
    /* NOLINTNEXTLINE(cert-err34-c): the kernel wrote it */
    return sscanf(end + 1,
                  " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64 " %" SCNu64
                  " %" SCNu64 " %*d %*d %*d %*d %" SCNu64,
                  &stat->state, &stat->parent, &ticks[0], &ticks[1], &ticks[2], &ticks[3],
                  &stat->start) == 7;
}

bool cp_process_lives(int pid)
{
    cp_process_stat stat;

    return cp_process_stat_read(pp_process_thread(pid), "stat", &stat) && stat.state != 'Z' &&
           stat.state != 'X';
}
