/* SPDX-License-Identifier: MIT
 *
 * heap_collect.h: the last run of the program's collector, at the end of the process [runtime.GC
 * before a heap profile].
 *
 * Zone: NORMAL.
 */
#ifndef PP_KINDS_HEAP_HEAP_COLLECT_H
#define PP_KINDS_HEAP_HEAP_COLLECT_H

#include "host/kind.h"

/* When the process ends while one of the files is wanted, the collector runs first. */
void pp_heap_collect_for(const pp_end_file *files);

/* In the child of fork: the end of the process does not run a collector that was set before, which
 * may need threads or locks that the child lacks. */
void pp_heap_collect_after_fork(void);

#endif
