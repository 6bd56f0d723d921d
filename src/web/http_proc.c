/* SPDX-License-Identifier: MIT
 *
 * http_proc.c: see http_proc.h.
 *
 * Zone: NORMAL.
 * Tested by: e2e.http_contract, e2e.http_children
 */
#include "web/http_proc.h"

#include "base/text.h"
#include "sys/apart.h"
#include "sys/file_calls.h"
#include "sys/own_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct reading {
    const char *path;
    pp_buffer *content;
    int error;
} reading;

static void read_file(void *of_reading)
{
    enum { PIECE = 4096 };
    reading *r = of_reading;
    pp_buffer *content = r->content;
    int fd = pp_own_open(r->path, O_RDONLY, 0);
    long length = fd;
    while (fd >= 0 && length >= 0) {
        uint8_t *room = pp_buffer_reserve(content, PIECE);
        length = room != NULL ? pp_file_read(fd, room, PIECE) : -ENOMEM;
        if (length <= 0) {
            break;
        }
        content->size += (size_t)length;
    }
    if (fd >= 0) {
        pp_own_close(fd);
    }
    r->error = length < 0 ? (int)length : 0;
}

int pp_http_read_file(const char *path, pp_buffer *content)
{
    reading r = {path, content, 0};
    pp_apart(read_file, &r);
    return r.error;
}

/* Whether "NAME=value" is an entry; each ends with a NUL. */
static bool has_entry(const pp_buffer *environment, const char *name, const char *value)
{
    const char *end = (const char *)environment->data + environment->size;
    const char *at = (const char *)environment->data;
    size_t name_length = strlen(name);
    while (at != NULL && at < end) {
        const char *next = memchr(at, '\0', (size_t)(end - at));
        if (next != NULL && strncmp(at, name, name_length) == 0 &&
            strcmp(at + name_length, value) == 0) {
            return true;
        }
        at = next != NULL ? next + 1 : NULL;
    }
    return false;
}

bool pp_http_parent_has_options(void)
{
    pp_text path = PP_TEXT_INIT;
    pp_buffer environment = PP_BUFFER_INIT;
    const char *options = getenv("LIBPPROF");
    pp_text_add(&path, "/proc/");
    pp_text_add_number(&path, (uint64_t)getppid());
    pp_text_add(&path, "/environ");
    bool has = options != NULL && pp_http_read_file(path.data, &environment) == 0 &&
               has_entry(&environment, "LIBPPROF=", options);
    pp_buffer_release(&environment);
    return has;
}
