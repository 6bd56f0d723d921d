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

#include <stdbool.h>

/* At load, after the options. */
void pp_executed_init(void);

/* Events of process.h. */
void pp_executed_before(pp_exec *exec);
void pp_executed_after_failure(pp_exec *exec);
void pp_executed_by_child(const pp_exec *exec, int child);
bool pp_executed_leaves_library(const pp_exec *exec);

/* Tell `cpprof record`, if it listens to this process: this is a new child of fork; the program
 * confines itself, and nothing is told after that; the process ends, which is told once. */
void pp_executed_tell_child(void);
void pp_executed_tell_confined(void);
void pp_executed_tell_end(void);

#endif
