/* SPDX-License-Identifier: MIT
 *
 * clean_path.h: the shortest spelling of a path.
 */
#ifndef CP_CLEAN_PATH_H
#define CP_CLEAN_PATH_H

/* Returns the path without double slashes, "." and "NAME/..": "a//b/../c" becomes "a/c".
 * A leading /proc/self/cwd/, which compilers in a sandbox write, is left out first. It reads no
 * file. The result is to be freed. */
char *cp_clean_path(const char *path);

#endif
