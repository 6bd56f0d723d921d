/* SPDX-License-Identifier: MIT
 *
 * threads.h: the target's threads and their stacks.
 *
 * Owns: nothing; everything is in the arena.
 */
#ifndef PP_REMOTE_THREADS_H
#define PP_REMOTE_THREADS_H

#include "remote/target.h"

#include "base/arena.h"
#include "sys/task_state.h"
#include "unwind/walk_other.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum pp_remote_state {
    PP_REMOTE_RUNS,
    PP_REMOTE_WAITS, /* at `place` */
    PP_REMOTE_WAITS_DEEPLY,
    PP_REMOTE_IS_STOPPED,
    PP_REMOTE_IS_GONE
} pp_remote_state;

typedef struct pp_remote_thread {
    int tid;
    pp_remote_state state;
    pp_task_place place; /* of a thread that waits */
    const uintptr_t *pc; /* return-like, leaf-most first */
    uint32_t depth;
    bool whole;         /* the stack has all frames */
    bool refused;       /* it runs, and the kernel grants no perf event */
    pp_reason why;      /* of a stack that is not whole */
    pp_last_frame last; /* likewise: where it ends */
    char name[PP_TASK_NAME_BYTES];
} pp_remote_thread;

typedef struct pp_remote_threads {
    pp_remote_thread *thread; /* the first thread first, the others as the kernel lists them */
    size_t count;
} pp_remote_threads;

/* Looks at all threads of the target. 0, or -1 and the reason. */
int pp_remote_threads_read(const pp_target *target, pp_arena *arena, pp_remote_threads *threads,
                           pp_remote_error *error);

#endif
