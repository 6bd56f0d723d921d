/* SPDX-License-Identifier: MIT
 *
 * folder.h: the folder in which the processes of a user have their control sockets.
 */
#ifndef PP_HTTP_FOLDER_H
#define PP_HTTP_FOLDER_H

#include <limits.h>

typedef struct socket_folder {
    int fd; /* the caller closes it */
    char path[PATH_MAX];
} socket_folder;

/* Why a folder cannot be used. */
typedef struct folder_error {
    char text[512];
} folder_error;

/*
 * Opens $XDG_RUNTIME_DIR/pprof, or else /tmp/pprof-UID, and makes it if it is not there. Neither is
 * used unless it is a folder, no symbolic link, of this user, and closed to all others. 0, or
 * -errno with a sentence about the last one.
 */
int folder_open_own(socket_folder *folder, folder_error *error);

/* Opens the folder of a path that the user has chosen. The rest of the path goes to *name. */
int folder_open_of(socket_folder *folder, const char *path, const char **name, folder_error *error);

#endif
