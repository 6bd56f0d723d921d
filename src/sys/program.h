/* SPDX-License-Identifier: MIT
 *
 * program.h: files of /proc about the process, whichever of its threads still exist.
 *
 * /proc/self is the first thread. If that thread called pthread_exit() before the others ended, its
 * memory is gone: `exe` leads nowhere, `maps` is empty, `status` has no lines about memory.
 * /proc/thread-self is the calling thread (since Linux 3.17).
 *
 * Zone: SIGNAL.
 */
#ifndef PP_SYS_PROGRAM_H
#define PP_SYS_PROGRAM_H

/* Returns a path to the executed file, even if the file has no name any more. The caller reads the
 * path as a link, or opens it. */
const char *pp_program_file(void);

/* Opens `status`: a descriptor for pp_own_close(), or -errno. */
int pp_program_status_open(void);

#endif
