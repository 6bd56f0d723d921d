/* SPDX-License-Identifier: MIT
 *
 * source_root.c: see source_root.h.
 *
 * Tested by: e2e.cpprof_record_remote
 */
#include "ask/source_root.h"

#include "ask/control.h"
#include "base/pool.h"

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
    if (cp_control_is_process(root)) {
        return cp_heap_printf("%s/%s%s", root, name, parameters);
    }
    const char *between = strncmp(root, "unix:", 5) == 0 ? ":" : "";
    return cp_heap_printf("%s%s%s/%s%s", root, between, base_path, name, parameters);
}
