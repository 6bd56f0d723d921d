/* SPDX-License-Identifier: MIT
 *
 * thread_list.c: reads the kept list's clocks, or /proc/self/task.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: e2e.thread_moves, e2e.thread_storm
 */
#include "threads/thread_list.h"

#include "sys/own_threads.h"
#include "sys/tasks.h"

#include <errno.h>

enum {
    SLACK = 64,   /* for threads that begin while the kernel lists them */
    LISTINGS = 4, /* the kernel leaves out threads while others end */
    DIRECTORY_BYTES = 32 * 1024
};

int pp_thread_list_begin(pp_thread_list *list, size_t capacity, int self, pp_arena *arena)
{
    *list = (pp_thread_list){.sights = pp_arena_array_filled(arena, capacity, sizeof *list->sights),
                             .capacity = capacity};
    if (list->sights == NULL) {
        return -ENOMEM;
    }
    pp_thread_list_add(list, self);
    return 0;
}

static void add(pp_thread_list *list, int tid, int64_t clock_ns)
{
    if (list->count < list->capacity) {
        list->sights[list->count++] = (pp_sight){.tid = tid, .clock_ns = clock_ns};
    }
}

void pp_thread_list_add(pp_thread_list *list, int tid)
{
    add(list, tid, PP_CLOCK_NOT_READ);
}

/* The kernel may have given the id of a thread that is gone to one that acts for another. */
bool pp_thread_list_add_living(pp_thread_list *list, int tid)
{
    int64_t clock_ns = pp_task_cpu_ns(tid);
    bool lives = clock_ns >= 0 && !pp_own_threads_acts(tid);
    if (lives) {
        add(list, tid, clock_ns);
    }
    return lives;
}

bool pp_thread_list_read_kept(pp_thread_list *list, int self, pp_kept_threads *kept,
                              pp_arena *arena)
{
    size_t count = 0;
    const int *tids = pp_kept_list(kept, &count);
    bool has_self = false;
    if (count == 0 || count != pp_tasks_count() ||
        pp_thread_list_begin(list, count + SLACK, self, arena) != 0) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (tids[i] == self) {
            has_self = true;
        } else if (!pp_thread_list_add_living(list, tids[i])) {
            return false;
        }
    }
    return has_self;
}

void pp_thread_list_keep(const pp_thread_list *list, pp_kept_threads *kept, pp_arena *arena)
{
    int *tids = pp_arena_array(arena, list->count, sizeof *tids);
    for (size_t i = 0; tids != NULL && i < list->count; i++) {
        tids[i] = list->sights[i].tid;
    }
    if (tids != NULL) {
        pp_kept_set_list(kept, tids, list->count);
    }
}

static void add_task(int tid, void *context)
{
    pp_thread_list *list = context;
    if (tid != list->sights[0].tid) {
        pp_thread_list_add(list, tid);
    }
}

int pp_thread_list_read(pp_thread_list *list, int self, pp_arena *arena)
{
    size_t capacity = (size_t)pp_tasks_count() * 2 + SLACK;
    char *directory = pp_arena_alloc(arena, DIRECTORY_BYTES);
    if (directory == NULL || pp_thread_list_begin(list, capacity, self, arena) != 0) {
        return -ENOMEM;
    }
    for (unsigned attempt = 0; attempt < LISTINGS; attempt++) {
        list->count = 1;
        int seen = pp_tasks_each(directory, DIRECTORY_BYTES, add_task, list);
        if (seen < 0) {
            return seen;
        }
        if (list->count >= pp_tasks_count()) {
            break;
        }
    }
    return 0;
}
