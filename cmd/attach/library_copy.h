/* SPDX-License-Identifier: MIT
 *
 * library_copy.h: the library's files where a process can load them.
 *
 * A process with the same files as cpprof loads the library beside cpprof. For one with other mounts
 * or another root (a container), or whose user cannot read them, the files are copied to a new folder there, through /proc/PID/root,
 * for as long as the loading takes.
 */
#ifndef CP_LIBRARY_COPY_H
#define CP_LIBRARY_COPY_H

#include "ask/control_target.h"

#include <limits.h>

enum { CP_COPY_NAME_BYTES = 16 };

typedef struct cp_library_copy {
    char path[PATH_MAX];           /* of libpprof-attach.so, as the process sees it */
    int parent, folder;            /* descriptors; -1 if nothing was copied */
    char name[CP_COPY_NAME_BYTES]; /* of the folder in `parent` */
} cp_library_copy;

/* Finds or copies the files. Returns 0, or -1 with a sentence. */
int cp_library_copy_make(cp_library_copy *copy, const cp_target *target, cp_error *error);

/* Removes what was copied. */
void cp_library_copy_remove(cp_library_copy *copy);

#endif
