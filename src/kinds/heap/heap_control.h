/* SPDX-License-Identifier: MIT
 *
 * heap_control.h: starts the heap profile of the process, and writes its files.
 *
 * Zone: NORMAL; the functions that write also serve the fatal-signal writer.
 * Locks: one for the file that is being written; its holder takes no other lock.
 * Owns: whether a file is to be written at the end.
 */
#ifndef PP_KINDS_HEAP_HEAP_CONTROL_H
#define PP_KINDS_HEAP_HEAP_CONTROL_H

#include "kinds/heap/heap_profile.h"
#include "pprof.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The options of the heap in LIBPPROF and pprof_configure(). */
typedef struct pp_heap_request {
    int64_t rate;
    bool peak;   /* the profile "peak" is kept, and written in a file of its own */
    bool allocs; /* the file has the profile "allocs" instead of "heap" */
} pp_heap_request;

/* To be called at load if LIBPPROF does not list the heap: samples at the default rate if `on`,
 * without a file. */
void pp_heap_control_default(bool on);

/* Starts sampling, and has a file written at the end. Returns 0. */
int pp_heap_control_start(const pp_heap_request *request);

/* Whether the sampler is on, so that modules must be recorded before they are unloaded. */
bool pp_heap_control_is_on(void);

/* Writes a profile.proto. 0, -ENOMEM or the writer's first error. */
int pp_heap_control_write(pp_heap_view view, pprof_writer writer);

/* Whether a file of the profile "heap" or "allocs" is to be written at the end. */
bool pp_heap_control_wants_file(void);

/* Writes each file that is wanted and not written yet. `fatal`: see cpu_control.h. */
void pp_heap_control_end(bool fatal);

/* To be called before the program confines itself: writes the files, and stops sampling. True if a
 * file was wanted. */
bool pp_heap_control_confine(void);

/* Writes the files as of now; the end writes them again. */
void pp_heap_control_write_so_far(void);

/* In the child of fork. `keep_file`: the child writes files of its own. */
void pp_heap_control_after_fork(bool keep_file);

#endif
