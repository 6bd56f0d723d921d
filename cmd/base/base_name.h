/* SPDX-License-Identifier: MIT
 *
 * base_name.h: the last part of a path.
 */
#ifndef CP_BASE_NAME_H
#define CP_BASE_NAME_H

#include <stddef.h>

/* Returns the last part of the path, which has *length bytes: "lib" in "/usr/lib/". The last part
 * is "/" if the path has only slashes, and empty if the path is. */
const char *cp_base_name(const char *path, size_t *length);

#endif
