/* SPDX-License-Identifier: MIT
 *
 * clean_path.c: see clean_path.h.
 *
 * Tested by: unit.cmd_reports.
 */
#include "base/clean_path.h"

#include "base/pool.h"

#include <stdbool.h>
#include <string.h>

typedef struct cleaner {
    char *text;
    size_t length;
    size_t floor; /* ".." does not remove what is before it */
    bool rooted;
} cleaner;

static void put_part(cleaner *c, const char *part, size_t length)
{
    if (c->length > (c->rooted ? 1 : 0)) {
        c->text[c->length++] = '/';
    }
    memcpy(c->text + c->length, part, length);
    c->length += length;
}

static void put_parent(cleaner *c)
{
    if (c->length > c->floor) {
        c->length--;
        while (c->length > c->floor && c->text[c->length] != '/') {
            c->length--;
        }
    } else if (!c->rooted) {
        put_part(c, "..", 2);
        c->floor = c->length;
    }
}

static const char *skip_sandbox(const char *path)
{
    static const char *const prefixes[] = {"/proc/self/cwd/./", "/proc/self/cwd/"};

    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (strncmp(path, prefixes[i], strlen(prefixes[i])) == 0) {
            return path + strlen(prefixes[i]);
        }
    }
    return path;
}

char *cp_clean_path(const char *path)
{
    const char *begin = path = skip_sandbox(path);
    cleaner c = {.text = cp_heap_alloc(strlen(path) + 3, 1), .rooted = *path == '/'};

    if (c.rooted) {
        c.text[c.length++] = '/';
        c.floor = 1;
    }
    while (*path) {
        size_t length = strcspn(path, "/");

        if (length == 2 && path[0] == '.' && path[1] == '.') {
            put_parent(&c);
        } else if (length > 1 || (length == 1 && *path != '.')) {
            put_part(&c, path, length);
        }
        path += length + (path[length] == '/');
    }
    if (c.length == 0 && *begin) {
        c.text[c.length++] = '.';
    }
    c.text[c.length] = '\0';
    return c.text;
}
