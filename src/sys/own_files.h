/* SPDX-License-Identifier: MIT
 *
 * own_files.h: opens files of the library's own for a moment.
 *
 * The library hooks open() and close(), and these are cancellation points, so this file makes the
 * system calls. It keeps a list, because a profile of the program's descriptors must leave these
 * out. Callers are functions that pp_apart() calls (sys/apart.h): then the numbers are in another
 * table than the program's, and in no list.
 *
 * Zone: SIGNAL.
 * Owns: the list of these open descriptors.
 */
#ifndef PP_SYS_OWN_FILES_H
#define PP_SYS_OWN_FILES_H

#include <stdbool.h>
#include <stddef.h>

/* Calls open(2) with O_CLOEXEC: a descriptor, or -errno. */
int pp_own_open(const char *path, int flags, unsigned mode);

/* pp_own_open_at() does the same in the folder that is open as `folder`. */
int pp_own_open_at(int folder, const char *path, int flags);

/* Closes a descriptor of pp_own_open() or pp_own_open_at(): 0 or -errno. */
int pp_own_close(int fd);

/* Whether `fd` is such a descriptor, or `has` says that it is the server's (pp_own_files_ask()). */
bool pp_own_has(int fd);

/* From now on pp_own_has() asks `has`, too. */
void pp_own_files_ask(bool (*has)(int fd));

/* Files as another process sees them. */
typedef struct pp_files {
    int (*open)(const struct pp_files *files, const char *path, int flags);
    const char *program; /* a path to its executed file */
} pp_files;

/* Opens one of them; NULL: one of this process's. A descriptor for pp_own_close(), or -errno. */
static inline int pp_files_open(const pp_files *files, const char *path, int flags)
{
    return files == NULL ? pp_own_open(path, flags, 0) : files->open(files, path, flags);
}

#endif
