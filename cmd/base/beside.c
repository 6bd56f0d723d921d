/* SPDX-License-Identifier: MIT
 *
 * beside.c: see beside.h.
 *
 * Tested by: e2e.cpprof_record, e2e.cpprof_symbolize
 */
#include "base/beside.h"

#include "base/pool.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The folder in which the command lies, without a slash at its end. */
static bool own_folder(char *folder, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", folder, size - 1);

    if (length <= 0) {
        return false;
    }
    folder[length] = '\0';
    *strrchr(folder, '/') = '\0';
    return true;
}

char *cp_beside_command(const char *name)
{
    static const char *const places[] = {"../lib", "../" CP_LIBDIR};
    char folder[PATH_MAX];

    if (!own_folder(folder, sizeof folder)) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char *path = cp_heap_printf("%s/%s/%s", folder, places[i], name);
        if (access(path, R_OK) == 0) {
            return path;
        }
        free(path);
    }
    return NULL;
}
