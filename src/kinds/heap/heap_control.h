/* SPDX-License-Identifier: MIT
 *
 * heap_control.h: the heap profile of the process: how it begins, where it goes.
 *
 * Zone: NORMAL; the writing also serves the fatal-signal writer.
 * Locks: one for the file that is being written; nothing is taken while it is held.
 * Owns: whether a file is to be written at the end.
 */
#ifndef PP_KINDS_HEAP_HEAP_CONTROL_H
#define PP_KINDS_HEAP_HEAP_CONTROL_H

#include "kinds/heap/heap_profile.h"
#include "pprof.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What LIBPPROF and pprof_configure() say of the heap. */
typedef struct pp_heap_request {
    int64_t rate;
    bool peak; /* what was in use at most is kept, and written beside the profile */
    bool
        allocs; /* the file shows all that was allocated instead of what is in use, kind "allocs" */
} pp_heap_request;

/* At load, where LIBPPROF does not list the heap: `on` at the default rate, without a file. */
void pp_heap_control_default(bool on);

/* The option `heap`: sampling at this rate, and a file at the end. 0. */
int pp_heap_control_start(const pp_heap_request *request);

/* Whether samples are being taken, so that modules must be remembered before they go. */
bool pp_heap_control_is_on(void);

/* Writes a profile.proto. 0, -ENOMEM or the writer's first error. */
int pp_heap_control_write(pp_heap_view view, pprof_writer writer);

/* Whether a file with what is in use is to be written at the end. */
bool pp_heap_control_wants_file(void);

/* Writes the file, if there is one to be written and it has not been. `fatal`:
 * see cpu_control.h. */
void pp_heap_control_end(bool fatal);

/* The program confines itself: as the end, and nothing is sampled any more. True if a file was
 * written. */
bool pp_heap_control_confine(void);

/* Writes what the file would be now; at the end it is written again. */
void pp_heap_control_write_so_far(void);

/* In the child of fork. `keep_file`: it writes a file of its own. */
void pp_heap_control_after_fork(bool keep_file);

#endif
