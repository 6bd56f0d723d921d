/* SPDX-License-Identifier: MIT
 *
 * live_process.c: see live_process.h.
 *
 * Tested by: unit.cmd_live_process.
 */
#include "live/live_process.h"

#include "ask/process_files.h"
#include "base/pool.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* ---- its end ---- */

int cp_process_watch(int pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* ---- threads ---- */

static bool read_thread(int pid, int tid, cp_thread_use *use)
{
    char name[64];
    cp_process_stat stat;

    snprintf(name, sizeof name, "task/%d/stat", tid);
    bool is_there = cp_process_stat_read(pid, name, &stat);
    *use = (cp_thread_use){.tid = tid, .ticks = stat.ticks[0] + stat.ticks[1]};
    snprintf(use->name, sizeof use->name, "%.31s", stat.name);
    return is_there;
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
        use->threads = cp_heap_grow(use->threads, use->thread_count, &room, sizeof *use->threads);
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
