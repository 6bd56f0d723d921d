/* SPDX-License-Identifier: MIT
 *
 * executed.h: when the process, or a child of it, executes another program: writes the profiles,
 * has the library go along or stay behind, and tells `cpprof record` of it.
 *
 * Zone: NORMAL.
 * Locks: none.
 */
#ifndef PP_API_EXECUTED_H
#define PP_API_EXECUTED_H

#include "host/process.h"
#include "sys/recorder.h"

/* At load, after the options. */
void pp_executed_init(void);

/* Events of process.h. */
void pp_executed_before(pp_exec *exec);
void pp_executed_after_failure(void);
void pp_executed_by_child(const pp_exec *exec, int child);

/* Tells `cpprof record`, if it listens to this process. */
void pp_executed_tell(pp_recorder_event event);

/* The program confines itself: `cpprof record` is told, and nothing after that. */
void pp_executed_tell_last(pp_recorder_event event);

#endif
