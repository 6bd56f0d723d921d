/* SPDX-License-Identifier: MIT
 *
 * path.h: parts of paths.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_BASE_PATH_H
#define PP_BASE_PATH_H

#include <string.h>

/* What comes behind the last slash; without one the whole path. */
static inline const char *pp_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

#endif
