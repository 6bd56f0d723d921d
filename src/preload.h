/* SPDX-License-Identifier: MIT
 *
 * preload.h: the start-up: what keeps it in programs that are linked to libpprof.a, and the way to
 * what it starts for all who ask for profiles later.
 *
 * Zone: NORMAL.
 * Locks: none.
 * Owns: nothing.
 */
#ifndef PP_PRELOAD_H
#define PP_PRELOAD_H

#include "options.h"

/* Does nothing. A linker takes a member of an archive only if something refers to it; what refers
 * to this gets the constructor, the hooks and the end of the process. */
void pp_preload_link(void);

/* Before the first walk that nobody asked for in LIBPPROF: in a sandbox, walks do without what it forbids. */
void pp_preload_prepare_walks(void);

/* The options that hold now, with nothing that is asked for: to be filled in, and applied. */
void pp_preload_options(pp_options *wanted);

/* Starts what is asked for, beside what runs already. 0, wanted->error, or the first error that a
 * start returned. */
int pp_preload_apply(const pp_options *wanted);

#endif
