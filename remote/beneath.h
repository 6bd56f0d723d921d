/* SPDX-License-Identifier: MIT
 *
 * beneath.h: opens files of a process that has another root folder or other mounts.
 */
#ifndef PP_REMOTE_BENEATH_H
#define PP_REMOTE_BENEATH_H

/*
 * Opens a path below `root` as a process with that root would: neither an absolute symbolic link nor
 * ".." leads out, and a link of the kernel's (/proc/PID/root, /proc/PID/fd/N) is not followed.
 * Returns a descriptor with FD_CLOEXEC, or -errno. openat2(2), or step by step where that is missing.
 */
int pp_open_beneath(int root, const char *path, int flags);

#endif
