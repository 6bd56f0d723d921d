/* SPDX-License-Identifier: MIT
 *
 * path.h: parts of paths.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_BASE_PATH_H
#define PP_BASE_PATH_H

#include <string.h>

/* Returns the part after the last slash, or the whole path if there is none. */
static inline const char *pp_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

#endif
