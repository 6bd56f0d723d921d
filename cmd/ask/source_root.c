/* SPDX-License-Identifier: MIT
 *
 * source_root.c: see source_root.h.
 *
 * Tested by: e2e.cpprof_record_remote
 */
#include "ask/source_root.h"

#include "base/pool.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char base_path[] = "/debug/pprof";

char *cp_source_root(const char *source)
{
    size_t length = strlen(source);
    const char *path = strstr(source, base_path);

    if (path && strcmp(path + strlen(base_path), "/") != 0 && path[strlen(base_path)]) {
        return NULL; /* it names a profile */
    }
    if (path) {
        length = (size_t)(path - source);
    }
    while (length > 0 && (source[length - 1] == '/' || (path && source[length - 1] == ':'))) {
        length--;
    }
    return cp_heap_copy(source, length);
}

char *cp_source_address(const char *root, const char *name, const char *parameters)
{
    if (strncmp(root, "pid:", 4) == 0) {
        return cp_heap_printf("%s/%s%s", root, name, parameters);
    }
    const char *between = strncmp(root, "unix:", 5) == 0 ? ":" : "";
    return cp_heap_printf("%s%s%s/%s%s", root, between, base_path, name, parameters);
}

uint64_t cp_source_seconds(const char *address)
{
    enum { PROFILE_SECONDS = 30 /* the process's own default */ };
    static const char parameter[] = "seconds=";
    static const char *const timed[] = {"profile", "wall"};
    const char *seconds = strstr(address, parameter);
    long number = seconds ? strtol(seconds + strlen(parameter), NULL, 10) : 0;
    size_t path = strcspn(address, "?");

    if (number > 0 && number < 1000000) {
        return (uint64_t)number;
    }
    for (size_t i = 0; i < sizeof timed / sizeof *timed; i++) {
        size_t length = strlen(timed[i]);
        if (path >= length && strncmp(address + path - length, timed[i], length) == 0 &&
            (path == length || address[path - length - 1] == '/')) {
            return PROFILE_SECONDS;
        }
    }
    return 0;
}
