/* SPDX-License-Identifier: MIT
 *
 * all_kinds.h: what all kinds do at an event of the process, each in its turn (host/kind.h), and
 * what the options of the process want of them.
 *
 * Zone: NORMAL; the fatal-signal writer calls pp_all_write().
 * Locks: `asking`.
 */
#ifndef PP_API_ALL_KINDS_H
#define PP_API_ALL_KINDS_H

#include "api/options.h"
#include "host/kind.h"
#include "sys/lock.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct pp_all_kinds {
    pp_options options;
    pp_lock asking;     /* held by the thread that asks the kinds, and starts them */
    int cancel_state;   /* of that thread, from before */
    bool is_fork;       /* a child of fork, which has executed no program */
    uint64_t on_before; /* pp_all_on() when the attachment began */
} pp_all_kinds;

extern pp_all_kinds pp_all;

/* Starts the profiles that were asked for, but not those that wait for the option `signal`. 0 or
 * the first error. */
int pp_all_start(void);

/* Writes the files: pp_kind.write. If the exec for which it is done in a child of fork succeeds,
 * some kinds have nothing to show: these are left out then. */
void pp_all_write(bool so_far, const void *interrupted);

/* After pp_all_write(true). `left_ns`: of the duration; 0: until the process ends. */
void pp_all_resume(uint64_t left_ns);

/* Stops all, for ever. True if something ended that was asked for. */
bool pp_all_confine(void);

/* Stops all but these: one bit for each kind. */
void pp_all_stop(uint64_t all_but);

/* The end of the duration. A program that is linked to libpprof may use profiles itself: they go
 * on. */
void pp_all_end_duration(void);

/* At the option's signal: starts or stops the kinds whose profile covers a time, and has the others
 * write. */
void pp_all_toggle(void);

/* In the child of fork. */
void pp_all_after_fork(void);

/* Whether `is` is true of a kind. */
bool pp_all_any(bool (*is)(const pp_kind *kind));

/* One bit for each kind that is on. */
uint64_t pp_all_on(void);

/* If several files will be written, each has its kind in its name. */
void pp_all_distinguish_files(void);

#endif
