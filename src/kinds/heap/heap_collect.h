/* SPDX-License-Identifier: MIT
 *
 * heap_collect.h: when the program's collector is run at the end of the process [runtime.GC before
 * a heap profile].
 *
 * Zone: NORMAL.
 */
#ifndef PP_KINDS_HEAP_HEAP_COLLECT_H
#define PP_KINDS_HEAP_HEAP_COLLECT_H

/* In the child of fork: a collector that was set before may need threads or locks that are not
 * there, so that the end does not run it. */
void pp_heap_collect_after_fork(void);

#endif
