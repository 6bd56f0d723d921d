/* SPDX-License-Identifier: MIT
 *
 * late.h: whether this library came into a process that ran already (docs/ATTACH.md).
 *
 * cpprof makes a running process call dlopen with another name of the library's file,
 * libpprof-attach.so. A library that was loaded in this way interposes nothing: no program asked for
 * it, and no reference was bound to its functions.
 *
 * Zone: SIGNAL, except where HOOK is written.
 * Owns: the answer.
 */
#ifndef PP_MODULES_LATE_H
#define PP_MODULES_LATE_H

#include <stdbool.h>

extern bool pp_late_known;

/* Finds the answer, by the name under which the loader knows this library. The caller is called by
 * the loader, which is loading this library. HOOK. */
bool pp_late_find(void);

/* Returns what pp_late_find() has found. */
static inline bool pp_late_is(void)
{
    return pp_late_known;
}

#endif
