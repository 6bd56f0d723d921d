/* SPDX-License-Identifier: MIT
 *
 * maps.c: reads and parses /proc/self/maps. Format: proc(5), and the kernel's
 * Documentation/filesystems/proc.rst: "start-limit perms offset dev inode   path".
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#include "modules/maps.h"

#include "sys/apart.h"
#include "sys/file_calls.h"
#include "sys/own_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum { FIRST_SIZE = 64 * 1024 };

/* Reads all of `fd`, doubling the buffer; smaller buffers stay in the arena. */
static int read_all(int fd, pp_arena *arena, char **text, size_t *length)
{
    size_t capacity = FIRST_SIZE;
    size_t used = 0;
    char *buffer = pp_arena_alloc(arena, capacity);
    while (buffer != NULL) {
        if (used + 1 == capacity) {
            char *larger = pp_arena_alloc(arena, capacity * 2);
            if (larger == NULL) {
                break;
            }
            memcpy(larger, buffer, used);
            buffer = larger;
            capacity *= 2;
        }
        long got = pp_file_read(fd, buffer + used, capacity - used - 1);
        if (got < 0 && got != -EINTR) {
            return (int)got;
        }
        if (got == 0) {
            buffer[used] = '\0';
            *text = buffer;
            *length = used;
            return 0;
        }
        used += got > 0 ? (size_t)got : 0;
    }
    return -ENOMEM;
}

typedef struct reading {
    const char *path;
    pp_arena *arena;
    char **text;
    size_t *length;
    int error;
} reading;

static void read_path(void *of_reading)
{
    reading *r = of_reading;
    int fd = pp_own_open(r->path, O_RDONLY, 0);
    r->error = fd < 0 ? fd : read_all(fd, r->arena, r->text, r->length);
    if (fd >= 0) {
        pp_own_close(fd);
    }
}

int pp_maps_text_of(const char *path, pp_arena *arena, char **text, size_t *length)
{
    reading r = {path, arena, text, length, 0};
    pp_apart(read_path, &r);
    return r.error;
}

/* /proc/self names the first thread, whose memory is gone once it has ended before the others. */
int pp_maps_text(pp_arena *arena, char **text, size_t *length)
{
    int error = pp_maps_text_of("/proc/self/maps", arena, text, length);
    return error == 0 && *length == 0
               ? pp_maps_text_of("/proc/thread-self/maps", arena, text, length)
               : error;
}

int pp_maps_text_if_any(pp_arena *arena, const char **text, size_t *length)
{
    char *found = NULL;
    int error = pp_maps_text(arena, &found, length);
    if (error != 0) {
        *length = 0;
    }
    *text = error == 0 ? found : "";
    return error == -ENOMEM ? error : 0;
}

/* Parses a hexadecimal number and moves *at past it. False if there is no digit or too many. */
static bool parse_hex(const char **at, uint64_t *value)
{
    uint64_t result = 0;
    unsigned digits = 0;
    for (;; (*at)++, digits++) {
        unsigned char c = (unsigned char)**at;
        if (c >= '0' && c <= '9') {
            result = result << 4 | (uint64_t)(c - '0');
        } else if (c >= 'a' && c <= 'f') {
            result = result << 4 | (uint64_t)(c - 'a' + 10);
        } else {
            break;
        }
    }
    *value = result;
    return digits > 0 && digits <= 16;
}

static bool expect(const char **at, char c)
{
    if (**at != c) {
        return false;
    }
    (*at)++;
    return true;
}

/* Skips a field and the blanks after it. */
static void skip_field(const char **at)
{
    *at += strcspn(*at, " ");
    *at += strspn(*at, " ");
}

static bool parse_line(const char *at, pp_map_line *line)
{
    uint64_t start = 0;
    uint64_t limit = 0;
    if (!parse_hex(&at, &start) || !expect(&at, '-') || !parse_hex(&at, &limit) ||
        !expect(&at, ' ') || limit <= start) {
        return false;
    }
    if (strlen(at) < 5 || at[4] != ' ') {
        return false;
    }
    line->readable = at[0] == 'r';
    line->writable = at[1] == 'w';
    line->executable = at[2] == 'x';
    line->shared = at[3] == 's';
    skip_field(&at);
    if (!parse_hex(&at, &line->offset)) {
        return false;
    }
    skip_field(&at); /* to the device */
    skip_field(&at); /* to the inode */
    skip_field(&at); /* to the path, or the end */
    line->start = (uintptr_t)start;
    line->limit = (uintptr_t)limit;
    line->path = at;
    return true;
}

bool pp_maps_next(char **text, pp_map_line *line)
{
    while (**text != '\0') {
        char *at = *text;
        char *end = strchr(at, '\n');
        if (end != NULL) {
            *end = '\0';
            *text = end + 1;
        } else {
            *text = at + strlen(at);
        }
        if (parse_line(at, line)) {
            return true;
        }
    }
    return false;
}
