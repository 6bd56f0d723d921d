/* SPDX-License-Identifier: MIT
 *
 * base_name.c: see base_name.h.
 *
 * Tested by: e2e.cpprof_top.
 */
#include "base/base_name.h"

#include <string.h>

const char *cp_base_name(const char *path, size_t *length)
{
    size_t end = strlen(path);

    while (end > 1 && path[end - 1] == '/') {
        end--;
    }
    size_t begin = end;
    while (begin > 0 && path[begin - 1] != '/') {
        begin--;
    }
    if (begin == end && end > 0) {
        begin = end - 1; /* only slashes */
    }
    *length = end - begin;
    return path + begin;
}
