/* SPDX-License-Identifier: MIT
 *
 * thread_control.h: the profiles of threads: `thread` (or `goroutine`) and `threadcreate`.
 *
 * Zone: NORMAL; the end also serves the fatal-signal writer.
 * Locks: that of end_file.h.
 * Owns: whether a file is to be written at the end.
 */
#ifndef PP_KINDS_THREADS_THREAD_CONTROL_H
#define PP_KINDS_THREADS_THREAD_CONTROL_H

#include "host/thread_snapshot.h"

#include "pprof.h"

#include <stdbool.h>
#include <stddef.h>

/* A file at the end. */
void pp_thread_control_start(void);

/* Whether it is to be written, and has not been. */
bool pp_thread_control_wants_file(void);

/* Threads of the program that live. */
size_t pp_thread_control_count(void);
size_t pp_threadcreate_control_count(void);

/* Write as the profile `name` ("thread", "goroutine"). debug 2 and above: every stack in full. 0 or
 * -errno. */
int pp_thread_control_write(const char *name, pprof_writer writer, int debug);
int pp_threadcreate_control_write(pprof_writer writer, int debug);

/* All threads as they are now; 0 or -errno. The caller's stack is in the first row. To be released
 * in any case. */
int pp_thread_control_snapshot(bool with_stacks, bool with_names, pp_arena *arena,
                               pp_threads *threads);

/* Every stack in full; `all`, or the caller's alone. */
int pp_thread_control_dump(bool all, pprof_writer writer);

/* Where a thread was created; a pseudo-frame if nobody knows. */
typedef struct pp_thread_origin {
    const uintptr_t *pc;
    uint32_t depth;
} pp_thread_origin;
pp_thread_origin pp_thread_control_origin(const pp_thread_row *row);

/* Writes the file that is to be written and has not been. `context`: the ucontext_t of a fatal
 * signal's handler, in which the process ends; NULL if it ends in another way. */
void pp_thread_control_end(const void *context);

/* The program confines itself: as the end, and no other thread is looked at any more. True if a
 * file was written. */
bool pp_thread_control_confine(void);

/* Writes what the file would be now; at the end it is written again. */
void pp_thread_control_write_so_far(void);

/* In the child of fork. `keep_file`: it writes a file of its own. */
void pp_thread_control_after_fork(bool keep_file);

#endif
