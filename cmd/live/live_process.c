/* SPDX-License-Identifier: MIT
 *
 * live_process.c: see live_process.h.
 *
 * Tested by: unit.cmd_live_process.
 */
#include "live/live_process.h"

#include "base/pool.h"

#include "remote/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { STAT_BYTES = 1024 };

/* ---- files of /proc ---- */

/* Reads a file of the folder /proc/PID. Returns its length, 0 if there is none. */
static size_t read_small(int pid, const char *name, char *text, size_t room)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, room - 1) : 0;
    if (fd >= 0) {
        close(fd);
    }
    text[got > 0 ? got : 0] = '\0';
    return got > 0 ? (size_t)got : 0;
}

char *cp_process_command(int pid)
{
    char text[4096];
    size_t length = read_small(pp_process_thread(pid), "cmdline", text, sizeof text);

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

/* ---- its end ---- */

int cp_process_watch(int pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* The part of a line of /proc/PID/stat that follows the name, which may have any characters: the
 * state comes first. NULL: the line is broken. */
static const char *after_name(const char *line)
{
    const char *end = strrchr(line, ')');

    return end && end[1] == ' ' ? end + 2 : NULL;
}

bool cp_process_lives(int pid)
{
    char line[STAT_BYTES];
    bool is_there = read_small(pp_process_thread(pid), "stat", line, sizeof line) > 0;
    const char *state = is_there ? after_name(line) : NULL;

    return state && *state != 'Z' && *state != 'X';
}

/* ---- threads ---- */

/* Fields 14 and 15 of [proc(5)], of which the state is the third. */
static bool read_ticks(const char *line, uint64_t *ticks)
{
    const char *at = after_name(line);

    for (int field = 3; at && field < 14; field++) {
        at = strchr(at, ' ');
        at += at ? 1 : 0;
    }
    if (!at) {
        return false;
    }
    char *rest;
    *ticks = strtoull(at, &rest, 10);
    *ticks += strtoull(rest, NULL, 10);
    return true;
}

static bool read_thread(int pid, int tid, cp_thread_use *use)
{
    char name[64], line[STAT_BYTES];

    *use = (cp_thread_use){.tid = tid};
    snprintf(name, sizeof name, "task/%d/stat", tid);
    if (!read_small(pid, name, line, sizeof line) || !read_ticks(line, &use->ticks)) {
        return false;
    }
    const char *begin = strchr(line, '('), *end = strrchr(line, ')');
    size_t length = begin && end > begin ? (size_t)(end - begin) - 1 : 0;
    if (length >= sizeof use->name) {
        length = sizeof use->name - 1;
    }
    memcpy(use->name, begin ? begin + 1 : "", length);
    return true;
}

static int by_number(const void *left, const void *right)
{
    const cp_thread_use *l = left, *r = right;

    return (l->tid > r->tid) - (l->tid < r->tid);
}

static void read_threads(int pid, cp_process_use *use)
{
    char path[64];
    size_t room = 0;

    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *folder = opendir(path);
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        if (use->thread_count == room) {
            room = room ? 2 * room : 16;
            use->threads = cp_heap_resize(use->threads, room, sizeof *use->threads);
        }
        int tid = (int)strtol(entry->d_name, NULL, 10);
        use->thread_count += tid > 0 && read_thread(pid, tid, &use->threads[use->thread_count]);
    }
    if (folder) {
        closedir(folder);
    }
    if (use->thread_count) {
        qsort(use->threads, use->thread_count, sizeof *use->threads, by_number);
    }
}

/* ---- use ---- */

static int64_t clock_ns(clockid_t clock)
{
    struct timespec time;

    return clock_gettime(clock, &time) == 0 ? (int64_t)time.tv_sec * 1000000000 + time.tv_nsec : -1;
}

void cp_process_use_read(int pid, cp_process_use *use)
{
    clockid_t clock;

    *use = (cp_process_use){.cpu_ns = -1};
    if (clock_getcpuclockid(pid, &clock) == 0) {
        use->cpu_ns = clock_ns(clock);
    }
    use->at_ns = clock_ns(CLOCK_MONOTONIC);
    read_threads(pid, use);
}

void cp_process_use_release(cp_process_use *use)
{
    free(use->threads);
    use->threads = NULL;
    use->thread_count = 0;
}

/* ---- load ---- */

static uint64_t ticks_before(const cp_process_use *before, int tid)
{
    const cp_thread_use key = {.tid = tid};
    const cp_thread_use *found =
        before->thread_count
            ? bsearch(&key, before->threads, before->thread_count, sizeof key, by_number)
            : NULL;

    return found ? found->ticks : 0;
}

static void add_thread(cp_process_load *load, const cp_thread_use *thread, double share)
{
    load->busy += share >= 0.05;
    if (share >= 0.05 && share > load->most) {
        load->most = share;
        memcpy(load->busiest, thread->name, sizeof load->busiest);
    }
}

cp_process_load cp_process_load_between(const cp_process_use *before, const cp_process_use *after)
{
    cp_process_load load = {.cpu = -1, .threads = after->thread_count};
    double elapsed_ns = (double)(after->at_ns - before->at_ns);
    double ticks = elapsed_ns / 1e9 * (double)sysconf(_SC_CLK_TCK);

    if (elapsed_ns <= 0) {
        return load;
    }
    if (before->cpu_ns >= 0 && after->cpu_ns >= before->cpu_ns) {
        load.cpu = (double)(after->cpu_ns - before->cpu_ns) / elapsed_ns;
    }
    for (size_t i = 0; i < after->thread_count; i++) {
        const cp_thread_use *thread = &after->threads[i];
        uint64_t old = ticks_before(before, thread->tid);
        if (thread->ticks > old) {
            add_thread(&load, thread, (double)(thread->ticks - old) / ticks);
        }
    }
    return load;
}
