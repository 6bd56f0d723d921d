/* SPDX-License-Identifier: MIT
 *
 * start.h: keeps the start-up (api/preload.c) in programs that are linked to libpprof.a.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_HOST_START_H
#define PP_HOST_START_H

/* Does nothing. A linker takes a member of an archive only if something refers to it: a file that
 * refers to this function brings the constructor, the hooks and the end of the process. */
void pp_preload_link(void);

#endif
