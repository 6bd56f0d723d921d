/* SPDX-License-Identifier: MIT
 *
 * threads.c: looks at each thread from outside, and samples those that run.
 *
 * The kernel counts how often a thread has got a processor (/proc/PID/task/TID/schedstat). If the
 * count is the same before and after the walk, the thread has not moved meanwhile: a sequence lock.
 *
 * Tested by: e2e.cpprof_dump
 */
#include "remote/threads.h"

#include "remote/running.h"

#include "sys/numbers.h"
#include "unwind/walk_other.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOOKS = 4, DEPTH_MAX = 8192, LISTINGS = 8, SLACK = 64, DIRECTORY_BYTES = 32 * 1024 };

/* The working memory of a look. */
typedef struct look {
    const pp_target *target;
    pp_arena *arena;
    pp_remote_threads *threads;
    size_t capacity;
    pp_other_space *space;
    uintptr_t *pcs; /* DEPTH_MAX of them */
} look;

/* ---- the list ---- */

/* How many threads there are, from the link count of their folder. */
static size_t count_threads(const pp_target *target)
{
    struct stat status;
    bool known = fstat(target->tasks, &status) == 0 && status.st_nlink > 2;
    return known ? status.st_nlink - 2 : 0; /* "." and ".." */
}

static void add_one(int tid, void *context)
{
    look *l = context;
    if (l->threads->count < l->capacity) {
        l->threads->thread[l->threads->count++] = (pp_remote_thread){.tid = tid};
    }
}

/* While threads end, the kernel also leaves out others that live: then it is asked again. */
static int list(look *l)
{
    char path[64];
    char *directory = pp_arena_alloc(l->arena, DIRECTORY_BYTES);
    snprintf(path, sizeof path, "/proc/%d/task", l->target->pid);
    l->capacity = count_threads(l->target) * 2 + SLACK;
    l->threads->thread = pp_arena_array(l->arena, l->capacity, sizeof *l->threads->thread);
    if (directory == NULL || l->threads->thread == NULL) {
        return -ENOMEM;
    }
    for (unsigned attempt = 0; attempt < LISTINGS; attempt++) {
        l->threads->count = 0;
        int error = pp_numbers_each(path, directory, DIRECTORY_BYTES, add_one, l);
        if (error != 0 || l->threads->count >= count_threads(l->target)) {
            return error;
        }
    }
    return 0;
}

/* ---- one thread ---- */

static int open_turns(const look *l, int tid)
{
    char path[40];
    snprintf(path, sizeof path, "%d/schedstat", tid);
    return openat(l->target->tasks, path, O_RDONLY | O_CLOEXEC);
}

/* How often the thread has got a processor so far; -1 if it is gone. */
static long long read_turns(int fd)
{
    char text[96];
    ssize_t got = pread(fd, text, sizeof text - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    const char *last = strrchr(text, ' ');
    return last != NULL ? strtoll(last, NULL, 10) : -1;
}

static void keep(look *l, pp_remote_thread *t, const pp_walk *walk)
{
    uintptr_t *kept = pp_arena_array(l->arena, walk->depth + 1, sizeof *kept);
    if (kept != NULL) {
        memcpy(kept, walk->pcs, walk->depth * sizeof *kept);
        t->pc = kept;
        t->depth = walk->depth;
        t->whole = walk->stop == PP_STOP_END;
        t->why = walk->why;
        t->last = l->space->last;
    }
}

/* The state of a thread whose place /proc does not show. */
static pp_remote_state state_of_letter(const look *l, int tid)
{
    switch (pp_task_letter(l->target->tasks, tid)) {
    case 0:
    case 'Z':
    case 'X':
        return PP_REMOTE_IS_GONE;
    case 'D':
        return PP_REMOTE_WAITS_DEEPLY;
    case 'T':
    case 't':
        return PP_REMOTE_IS_STOPPED;
    default:
        return PP_REMOTE_RUNS;
    }
}

/* One look. False if the thread ran meanwhile. */
static bool look_once(look *l, pp_remote_thread *t, int turns_fd)
{
    pp_walk walk = {.pcs = l->pcs, .capacity = DEPTH_MAX};
    long long turns = read_turns(turns_fd);
    pp_task_activity activity = pp_task_look(l->target->tasks, t->tid, &t->place);
    if (activity != PP_TASK_WAITS) {
        t->state = activity == PP_TASK_RUNS ? PP_REMOTE_RUNS : state_of_letter(l, t->tid);
        return t->state != PP_REMOTE_RUNS;
    }
    pp_walk_other(t->place.pc, t->place.sp, l->space, &walk);
    if (turns < 0 || read_turns(turns_fd) != turns) {
        t->state = PP_REMOTE_RUNS;
        return false;
    }
    t->state = PP_REMOTE_WAITS;
    keep(l, t, &walk);
    return true;
}

/* Takes the stack of a thread that waits. False if it runs. */
static bool take_waiting(look *l, pp_remote_thread *t)
{
    bool taken = false;
    int turns_fd = open_turns(l, t->tid);
    if (turns_fd < 0) {
        t->state = state_of_letter(l, t->tid);
        return t->state == PP_REMOTE_IS_GONE;
    }
    for (unsigned i = 0; i < LOOKS && !taken; i++) {
        taken = look_once(l, t, turns_fd);
    }
    close(turns_fd);
    return taken;
}

/* ---- threads that run ---- */

static void take_sample(look *l, pp_remote_thread *t, const pp_running_sample *sample)
{
    pp_walk walk = {.pcs = l->pcs, .capacity = DEPTH_MAX};
    uintptr_t sp = sample->registers.r[PP_REG_SP];
    const pp_stack_image image = {sp, sp + sample->stack_bytes, sample->stack};
    pp_walk_other_from(&sample->registers, &image, l->space, &walk);
    t->state = PP_REMOTE_RUNS;
    keep(l, t, &walk);
}

/* Waits for a sample of each thread that runs; meanwhile it may begin to wait. */
static void take_running(look *l, pp_remote_thread *t)
{
    enum { ROUNDS = 50, ROUND_MS = 10 };
    pp_running running;
    int error = pp_running_open(&running, t->tid);
    for (unsigned i = 0; i < ROUNDS; i++) {
        const pp_running_sample *sample = NULL;
        if (error == 0) {
            sample = pp_running_wait(&running, ROUND_MS);
        } else {
            usleep(ROUND_MS * 100);
        }
        if (sample != NULL) {
            take_sample(l, t, sample);
            break;
        }
        if (take_waiting(l, t)) {
            break;
        }
    }
    t->refused = error != 0 && t->state == PP_REMOTE_RUNS;
    if (error == 0) {
        pp_running_close(&running);
    }
}

/* ---- all ---- */

static void drop_gone(pp_remote_threads *threads)
{
    size_t kept = 0;
    for (size_t i = 0; i < threads->count; i++) {
        if (threads->thread[i].state != PP_REMOTE_IS_GONE) {
            threads->thread[kept++] = threads->thread[i];
        }
    }
    threads->count = kept;
}

int pp_remote_threads_read(const pp_target *target, pp_arena *arena, pp_remote_threads *threads,
                           pp_remote_error *error)
{
    look l = {.target = target, .arena = arena, .threads = threads};
    threads->count = 0;
    l.space = pp_arena_alloc(arena, sizeof *l.space);
    l.pcs = pp_arena_array(arena, DEPTH_MAX, sizeof *l.pcs);
    int status = l.space != NULL && l.pcs != NULL ? list(&l) : -ENOMEM;
    if (status == 0) {
        l.space->target = &target->walked;
    }
    if (status != 0) {
        return pp_remote_fail(error, "the threads of process %d cannot be listed: %s", target->pid,
                              strerror(-status));
    }
    for (size_t i = 0; i < threads->count; i++) {
        pp_remote_thread *t = &threads->thread[i];
        pp_task_name(target->tasks, t->tid, t->name);
        if (!take_waiting(&l, t)) {
            take_running(&l, t);
        }
    }
    drop_gone(threads);
    if (threads->count == 0) {
        return pp_remote_fail(error, "process %d has ended", target->pid);
    }
    return 0;
}
