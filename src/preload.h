/* SPDX-License-Identifier: MIT
 *
 * preload.h: keeps the start-up and the hooks in programs that are linked to libpprof.a.
 *
 * Zone: NORMAL.
 * Locks: none.
 * Owns: nothing.
 */
#ifndef PP_PRELOAD_H
#define PP_PRELOAD_H

/* Does nothing. A linker takes a member of an archive only if something refers to it; what refers
 * to this gets the constructor, the hooks and the end of the process. */
void pp_preload_link(void);

/* Before the first walk that nobody asked for in LIBPPROF: in a sandbox, walks do without what it forbids. */
void pp_preload_prepare_walks(void);

#endif
