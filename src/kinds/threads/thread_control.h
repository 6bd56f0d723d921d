/* SPDX-License-Identifier: MIT
 *
 * thread_control.h: writes the profiles of threads: `thread` (or `goroutine`) and `threadcreate`.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#ifndef PP_KINDS_THREADS_THREAD_CONTROL_H
#define PP_KINDS_THREADS_THREAD_CONTROL_H

#include "profile/model.h"
#include "threads/coroutine_snapshot.h"
#include "threads/thread_snapshot.h"

#include "pprof.h"

#include <stdbool.h>
#include <stddef.h>

/* Prepares for snapshots in a fatal signal's handler. False if a sandbox forbids to look at other
 * threads. */
bool pp_thread_control_prepare(void);

/* The number of the program's threads that live. Where a sandbox forbids to look, 1. */
size_t pp_thread_control_count(void);
/* The same with the tasks of the program's runtime: as many as the profile `thread` has. */
size_t pp_thread_control_count_all(void);

/* Write the profile `name` ("thread" or "goroutine"), or `threadcreate`. debug 2 and above: the
 * first one writes every stack in full. 0 or -errno. */
int pp_thread_control_write(const char *name, pprof_writer writer, int debug);
int pp_threadcreate_control_write(pprof_writer writer, int debug);

/* Fills `profile` with the same, for a difference; `creations`: of the stacks that created the
 * threads. 0 or -errno. */
int pp_thread_control_build(const char *name, bool creations, pp_arena *arena, pp_profile *profile);

/* Fills `threads` with all threads as they are now; the first row is the calling thread's. 0 or
 * -errno. The caller calls pp_threads_release() also after an error. */
int pp_thread_control_snapshot(bool with_stacks, bool with_names, pp_arena *arena,
                               pp_threads *threads);

/* Fills `coroutines` with all tasks of the program's runtime. 0 or -errno. The caller calls
 * pp_coroutines_release() also after an error. */
int pp_thread_control_coroutines(bool with_names, pp_arena *arena, pp_coroutines *coroutines);

/* Writes every stack in full (thread_text.h), or, not `all`, only the calling thread's. 0 or
 * -errno. */
int pp_thread_control_dump(bool all, pprof_writer writer);

/* The stack that created a thread; a pseudo-frame if no hook saw that. */
typedef struct pp_thread_origin {
    const uintptr_t *pc;
    uint32_t depth;
} pp_thread_origin;
pp_thread_origin pp_thread_control_origin(const pp_thread_row *row);

/* From now on the stack of the calling thread begins where a fatal signal has interrupted it
 * (`context`: the ucontext_t), and nothing is asked that the process may not be able to answer any
 * more; NULL: no longer. */
void pp_thread_control_interrupted(const void *context);

/* From now on no other thread is looked at: the program confines itself. */
void pp_thread_control_confine(void);

#endif
