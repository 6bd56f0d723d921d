/* SPDX-License-Identifier: MIT
 *
 * own_files.h: the files that the library opens, for a moment, for itself.
 *
 * Not by open() and close(): these are hooked, and cancellation points. And whoever lists the
 * descriptors of the program has to leave these out.
 *
 * Zone: SIGNAL.
 * Owns: the numbers of those that are open.
 */
#ifndef PP_SYS_OWN_FILES_H
#define PP_SYS_OWN_FILES_H

#include <stdbool.h>

/* As open(2), and O_CLOEXEC: a descriptor, or -errno. */
int pp_own_open(const char *path, int flags, unsigned mode);

/* The same in the folder that is open as `folder`. */
int pp_own_open_at(int folder, const char *path, int flags);

/* As close(2), of such a descriptor: 0 or -errno. */
int pp_own_close(int fd);

/* Whether it is one of these. */
bool pp_own_has(int fd);

#endif
