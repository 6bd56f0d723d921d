/* SPDX-License-Identifier: MIT
 *
 * thread_text.h: writes the stacks of all threads in full, as Go prints them when a program crashes
 * [runtime.Stack, runtime/pprof goroutine debug=2].
 *
 *   thread 4711 "worker" [epoll_wait]:
 *   epoll_wait(...)
 *           /lib/x86_64-linux-gnu/libc.so.6 +0x56
 *   serve(...)
 *           /usr/bin/program +0x1ca
 *   created by start_workers in thread 4700
 *           /usr/bin/program +0x3f
 *
 * A thread that waits for a lock says so after its state (lock_waits.h):
 *
 *   thread 4712 "second" [futex, mutex 0x55... held by thread 4711 "worker"]:
 *
 * After the threads come the tasks of the program's runtime (<pprof_task.h>), by their numbers; the
 * name is left out if there is none:
 *
 *   task 18 "reader" [channel, 5 minutes]:
 *   ...
 *   created by accept_connection in task 3
 *
 * An offset is from the function's entry to the return address. Where the function is not known,
 * the text has the return address in the place of its name, and the offset within the file.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#ifndef PP_KINDS_THREADS_THREAD_TEXT_H
#define PP_KINDS_THREADS_THREAD_TEXT_H

#include "base/arena.h"
#include "kinds/threads/lock_waits.h"
#include "profile/model.h"

#include "pprof.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_thread_text {
    int tid;
    uint64_t task;    /* the number of a task; 0: it is a thread */
    const char *name; /* NULL: a task that has none */
    const char *state;
    const uintptr_t *pc; /* return-like, leaf-most first */
    uint32_t depth;
    bool interrupted;  /* the leaf is not at a call: its offset is that of the instruction */
    uint32_t left_out; /* frames that `pc` lacks, after the first `left_out_after` */
    uint32_t left_out_after;
    const uintptr_t *creation; /* the frame that created the thread; NULL = not known */
    int creator;               /* the thread that did; 0 = not known */
    uint64_t creator_task;     /* the task that did; 0 = the thread did */
    const pp_lock_wait *wait;  /* what it waits for; NULL = not known */
    const char *note;          /* lines to write after the frames; NULL = none */
} pp_thread_text;

/* `profile` has the mappings, and whether to name addresses. 0, -ENOMEM or the writer's first
 * error. */
int pp_thread_text_encode(const pp_profile *profile, const pp_thread_text *threads, size_t count,
                          pp_arena *arena, pprof_writer writer);

#endif
