/* SPDX-License-Identifier: MIT
 *
 * program.h: what /proc says of the process, whichever of its threads are left.
 *
 * /proc/self is the first thread. Where that has called pthread_exit() before the others ended, its
 * memory is gone: `exe` leads nowhere, `maps` is empty, `status` knows of no memory.
 * /proc/thread-self is the thread that asks (since Linux 3.17).
 *
 * Zone: SIGNAL.
 */
#ifndef PP_SYS_PROGRAM_H
#define PP_SYS_PROGRAM_H

/* A path that leads to the file that is executed, even if it has no name any more: to be read as a
 * link, or opened. */
const char *pp_program_file(void);

/* Opens `status`; to be closed by pp_own_close(). The descriptor or -errno. */
int pp_program_status_open(void);

#endif
